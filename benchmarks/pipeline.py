"""The phases of the pipeline on real documents, beside the paper's figures; and whether the graph comes back.

    python benchmarks/pipeline.py WORLD [--check] [--nodes 1 3 5]

WORLD is a directory of zip files with sites (`benchmarks/world.py`). All files
go through detect, transform, index and extract in one process, with an embedded PostgreSQL of its own. Pages
a second are, first, of the phase's own work by the clock (the figure that the pipeline's page shows); then of
processor time: that of this process with leasing and settling, and with that of PostgreSQL's processes. With
--check every graph is exported as N-Quads, read back, and compared with what transform gave. With --nodes
transform alone runs on so many worker processes instead (figure 7 of the paper: one machine, one and two
slaves, one and four). They share this machine's processors, so that beyond their number only the processor
time of a document tells what more machines would do: it stays the same while the nodes share nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import zlib
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from datetime import UTC, datetime
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database
from benchmarks.goals import Goal
from benchmarks.processes import family, processor_seconds
from benchmarks.world import sites

GOALS = {"detect": 5000, "transform": 400, "index": 1000, "extract": 3000}
"""Pages a second on one core."""


def main() -> None:
    """Load the files, take them through, tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("world", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--nodes", nargs="+", type=int, metavar="N", help="transform on so many processes")
    options = parser.parse_args()
    with own_database("pipeline") as directory:
        pids = [int(path.read_text().split()[0]) for path in directory.rglob("postmaster.pid")]
        if options.nodes:
            _measure_nodes(options.world, pids, options.nodes)
        else:
            _measure(options.world, pids, options.check)


def _measure(world: Path, servers: list[int], check: bool) -> None:
    from crawler.pipeline.inline import step_of
    from crawler.pipeline.models import Document
    from crawler.pipeline.report import PAPER

    _load(world)
    total = Document.objects.count()
    print(f"{total} documents")
    goals: list[Goal] = []
    print("phase      documents  failed  pages/s of work  of CPU  with PostgreSQL  the paper")
    graphs: dict[int, bytes] = {}
    for phase in ("detect", "transform", "index", "extract"):
        if phase == "index" and check:
            graphs = {
                key: bytes(triples)
                for key, triples in Document.objects.filter(state="transformed").values_list("id", "triples")
            }
        own, theirs = time.process_time(), _seconds(servers)
        done = 0
        while step := step_of(phase):
            done += step
        own, theirs = time.process_time() - own, _seconds(servers) - theirs
        failed = Document.objects.filter(state="dead", failed_phase=phase).count()
        print(
            f"{phase:10} {done:9} {failed:7} {done / _work(phase):16.0f} {done / own:7.0f} "
            f"{done / (own + theirs):16.0f} {PAPER[phase]:10.0f}",
            flush=True,
        )
        goals.append(Goal(f"{phase}, of processor time", done / own, GOALS[phase], "pages/s"))
    print(*goals, sep="\n")
    types = Counter(Document.objects.values_list("type", flat=True))
    print(", ".join(f"{name} {count}" for name, count in types.most_common()))
    if check:
        _check(graphs)


def _measure_nodes(world: Path, servers: list[int], nodes: list[int]) -> None:
    """Transform all documents on each number of worker processes, the controller's share beside it."""
    from crawler.pipeline.documents import lease, settle, work
    from crawler.pipeline.inline import step_of
    from crawler.pipeline.models import Document
    from crawler.pipeline.phases import run

    _load(world)
    while step_of("detect"):
        pass
    states = dict(Document.objects.values_list("id", "state"))
    print(f"transform; {os.cpu_count()} processors")
    print("nodes  documents  seconds  pages/s  CPU ms a page of nodes  of the controller with PostgreSQL")
    for count in nodes:
        for state in set(states.values()):
            ids = [key for key, before in states.items() if before == state]
            Document.objects.filter(id__in=ids).update(state=state, triples=b"", lease=None, losses=0)
        with ProcessPoolExecutor(count, get_context("spawn"), initializer=_node) as pool:
            list(pool.map(time.sleep, [0.2] * count))  # all have started
            pids = {process.pid for process in active_children() if process.pid}
            begin, own, theirs = time.monotonic(), time.process_time(), _seconds(servers)
            before = processor_seconds(pids)
            out: set[Future[Any]] = set()
            done = 0
            while True:
                while len(out) < 2 * count and (rows := lease("transform", datetime.now(UTC))):
                    out |= {pool.submit(run, batch, "node") for batch in work("transform", rows)}
                if not out:
                    break
                finished, out = wait(out, return_when=FIRST_COMPLETED)
                done += sum(settle(each.result()) for each in finished)
            seconds = time.monotonic() - begin
            own = time.process_time() - own + _seconds(servers) - theirs
            nodes_own = processor_seconds(pids) - before
        print(
            f"{count:5} {done:10} {seconds:8.1f} {done / seconds:8.0f} {1000 * nodes_own / done:23.2f} "
            f"{1000 * own / done:34.2f}",
            flush=True,
        )


def _node() -> None:
    """Make Django ready in a process that has no database."""
    os.environ["DATABASE_URL"] = "none"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
    import django

    django.setup()


def _work(phase: str) -> float:
    """Seconds that the phase has noted so far."""
    from django.db.models import Sum

    from crawler.pipeline.models import PhaseFigure

    return float(PhaseFigure.objects.filter(phase=phase).aggregate(total=Sum("seconds"))["total"])


def _seconds(servers: list[int]) -> float:
    return sum(processor_seconds(family(pid)) for pid in servers)


def _load(world: Path) -> None:
    """Documents that wait for detect, with their bodies."""
    from crawler.engine.models import Host
    from crawler.frontier.models import Body
    from crawler.pipeline.models import Document
    from crawler.text.keys import digest, digest_of_bytes

    host, _ = Host.objects.get_or_create(name="world.example")
    for url, content in (file for site in sites(world) for file in site.files.items()):
        key = digest_of_bytes(content)
        Body.objects.get_or_create(
            digest=key, defaults={"content": zlib.compress(content, 1), "size": len(content)}
        )
        values = {"url": url, "host": host, "source": "address", "body_id": key, "fetched": datetime.now(UTC)}
        Document.objects.get_or_create(key=digest(url), defaults=values)


def _check(graphs: dict[int, bytes]) -> None:
    """Whether the export of each graph is the graph that went in, blank nodes renamed or not."""
    import pyoxigraph

    from crawler.pipeline.export import FORMS, chunks
    from crawler.pipeline.index import context_of
    from crawler.pipeline.models import Document

    same = lines = 0
    for row in Document.objects.filter(id__in=graphs).defer("triples").iterator():
        name = context_of(row).value
        text = b"".join(chunks(Document.objects.filter(pk=row.pk), FORMS["nq"]))
        lines += text.count(b"\n")
        back = pyoxigraph.Dataset(pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.N_QUADS))
        given = pyoxigraph.parse(zlib.decompress(graphs[row.pk]), format=pyoxigraph.RdfFormat.N_TRIPLES)
        named = pyoxigraph.NamedNode(name)
        source = pyoxigraph.Dataset(
            pyoxigraph.Quad(one.subject, one.predicate, one.object, named) for one in given
        )
        for graph in (back, source):
            graph.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
        if back == source:
            same += 1
        else:
            print(f"not the same: {row.url}")
    print(f"{same} of {len(graphs)} graphs came back as they went in, {lines} lines of N-Quads")


if __name__ == "__main__":
    main()
