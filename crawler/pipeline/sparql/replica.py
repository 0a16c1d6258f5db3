"""The replica: a store of Oxigraph on disk that follows the log of graph changes, and its snapshots.

One process writes (`manage.py sparql_replica`); web servers open snapshots, which never change. All of it
can be thrown away: without its files it is built again from PostgreSQL. A stored quad that no RDF can hold is
left out, a graph that cannot be taken over at all is set aside under its name, and the rest goes on.
"""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyoxigraph
from django.conf import settings
from django.db import DataError, connection

from crawler.isolation import memory
from crawler.pipeline.models import GraphChange
from crawler.pipeline.store import META, read_terms
from crawler.pipeline.terms import Node, node
from crawler.text.reasons import Reason

AT_ONCE = 20 if memory.is_small() else 50
FLUSH_QUADS = 10_000
"""Quads taken over between two writes to disk. The store holds them in memory until then."""

REOPEN_BYTES = 32 * memory.MEGABYTE
"""Growth of this process after which the store is reopened, which takes 0.03 to 0.2 s.

Its block cache, which pyoxigraph has no setting for, would grow to 130 MB.
"""

ALIVE, ASIDE = "alive.json", "aside.json"
MAX_ASIDE = 1_000
"""Graphs set aside whose names are kept."""

TELL_SECONDS = 30.0
"""Its sign of life is written no oftener, as long as it says the same."""

SILENT = timedelta(minutes=2)
"""A replica that lives tells so more often, even while it is built anew."""

KEPT = 2
"""Snapshots beside the newest: those that queries may still read."""

_OVERLAP = timedelta(minutes=10)
"""How far before the last look changes are read again: one may commit long after it got its number."""


@dataclass(frozen=True, slots=True)
class State:
    """The content of a snapshot: all changes up to `change`, seen at `at`, and the number of its quads."""

    change: int
    at: datetime
    quads: int


class Replica:
    """The writing side. A second one on the same directory fails with OSError, because of a lock."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or home()
        self._directory.mkdir(parents=True, exist_ok=True)
        self._open()
        self._file = self._directory / "position.json"
        self._seen = self._read_seen()
        self._unflushed = 0
        self._looked: datetime | None = None
        self._trouble, self._tell_again = "", 0.0
        self._aside: dict[str, dict[str, str]] = read_json(self._directory / ASIDE)

    def follow(self) -> int:
        """Take over changed graphs and publish a snapshot. Returns the number of changed graphs.

        Graphs are taken in the order of their last changes, so that a process that is killed goes on
        from its last flush.
        """
        if not self._is_open:  # reopening failed, perhaps because the disk was full
            self._open()
        self.tell()
        position, now = self._position(), datetime.now(UTC)
        # Numbers are given before commits: a long transaction's change appears behind later ones.
        changes = self._changes(position, min(self._looked or now, now) - _OVERLAP)
        last_changes = {context: number for number, context in changes}
        contexts = sorted(last_changes, key=last_changes.__getitem__)
        stored_count = saved_count = 0  # changes whose graphs are in the store; those of which the file knows
        for start in range(0, len(contexts), AT_ONCE):
            batch = contexts[start : start + AT_ONCE]
            self._take(batch)
            if self._unflushed >= FLUSH_QUADS:
                self._flush()
                # The position must not pass a change whose graph is not on disk yet.
                while stored_count < len(changes) and changes[stored_count][0] <= last_changes[batch[-1]]:
                    stored_count += 1
                self._save_position(
                    max(position, changes[stored_count - 1][0]), changes[saved_count:stored_count]
                )
                saved_count = stored_count
            self.tell()
        newest = max([position, *(number for number, _ in changes)])
        # Published also without changes, where a process was killed between flush and snapshot.
        if contexts or self._published() < newest:
            self._publish(newest, changes[saved_count:])
        self._looked = now
        return len(contexts)

    def content(self, name: str) -> bytes:
        """Return a graph as N-Triples, empty if there is none of this name."""
        graph = pyoxigraph.NamedNode(name)
        triples = (quad.triple for quad in self._store.quads_for_pattern(None, None, None, graph))
        return pyoxigraph.serialize(triples, format=pyoxigraph.RdfFormat.N_TRIPLES) or b""

    def tell(self, trouble: str = "") -> None:
        """Write a heartbeat with the current problem, at once where it changed, else now and then."""
        now = time.monotonic()
        if trouble == self._trouble and now < self._tell_again:
            return
        self._trouble, self._tell_again = trouble, now + TELL_SECONDS
        write_json(self._directory / ALIVE, {"at": datetime.now(UTC).isoformat(), "trouble": trouble[:1000]})

    def _changes(self, position: int, late: datetime) -> list[tuple[int, int]]:
        """Return numbers and contexts of changes after `position` or since `late`, without those taken."""
        rows = GraphChange.objects.filter(id__gt=position) | GraphChange.objects.filter(at__gte=late)
        pairs = rows.order_by("id").values_list("id", "context")
        return [(number, context) for number, context in pairs if number not in self._seen]

    def _take(self, contexts: list[int]) -> None:
        """Take over these graphs, one by one where that fails, to isolate a bad one."""
        try:
            wrong = self._renew(contexts)
            self._renew_origins(contexts)
        except (ValueError, TypeError, RuntimeError, DataError) as error:
            if len(contexts) > 1:
                for context in contexts:
                    self._take([context])
                return
            wrong = {contexts[0]: f"{type(error).__name__}: {error}"}
        if wrong or self._aside.keys() & set(map(str, contexts)):
            self._set_aside(contexts, wrong)

    def _set_aside(self, contexts: list[int], wrong: dict[int, str]) -> None:
        """Record which of these graphs are missing or incomplete, and why."""
        for context in contexts:
            self._aside.pop(str(context), None)
        names = dict(GraphChange.objects.filter(context__in=wrong).values_list("context", "url"))
        for context, reason in wrong.items():
            if len(self._aside) < MAX_ASIDE:
                self._aside[str(context)] = {"url": names.get(context, ""), "reason": reason[:300]}
        write_json(self._directory / ASIDE, self._aside)

    def _renew(self, contexts: list[int]) -> dict[int, str]:
        """Copy these graphs from PostgreSQL to the store. Returns problems by context."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT s, p, o, c FROM pipeline_quad WHERE c = ANY(%s)", [contexts])
            rows = cursor.fetchall()
        self._unflushed += len(rows)
        nodes = _nodes({key for row in rows for key in row} | set(contexts))
        named_contexts = {
            context for context, *_ in GraphChange.objects.filter(context__in=contexts).values_list("context")
        }
        wrong = {context: "its name is no IRI" for context in named_contexts if nodes.get(context) is None}
        for context in contexts:
            if nodes.get(context) is not None:
                self._store.remove_graph(nodes[context])
        missing: Counter[int] = Counter()
        self._store.extend(_quads(rows, nodes, missing))
        for context, count in missing.items():
            wrong.setdefault(context, f"{count} of its quads were left out: no RDF can hold them")
        return wrong

    def _renew_origins(self, contexts: list[int]) -> None:
        """Update the statements of the graph of origins about these graphs."""
        meta = META.key()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT s, p, o, c FROM pipeline_quad WHERE c = %s AND s = ANY(%s)", [meta, contexts]
            )
            rows = cursor.fetchall()
        nodes = _nodes({key for row in rows for key in row} | set(contexts))
        for context in contexts:
            if nodes.get(context) is not None:
                quads = self._store.quads_for_pattern(nodes[context], None, None, node(META))
                for quad in list(quads):
                    self._store.remove(quad)
        self._store.extend(_quads(rows, nodes, Counter()))

    def _position(self) -> int:
        try:
            return int(json.loads(self._file.read_text())["change"])
        except (OSError, ValueError, KeyError):
            return 0

    def _read_seen(self) -> dict[int, datetime]:
        """Return the changes of the last minutes that are in the store, and when they came there."""
        position = read_json(self._file)
        try:
            at = datetime.fromisoformat(position["at"])
            return {number: at for first, last in position["seen"] for number in range(first, last + 1)}
        except (ValueError, KeyError, TypeError):
            return {}

    def _save_position(self, change: int, changes: Sequence[tuple[int, int]]) -> None:
        """Record that the graphs of these changes are on disk, and everything up to `change`."""
        now = datetime.now(UTC)
        self._seen |= {number: now for number, _ in changes}
        # Twice the overlap: older changes are not read again.
        self._seen = {number: at for number, at in self._seen.items() if now - at < 2 * _OVERLAP}
        write_json(self._file, {"change": change, "at": now.isoformat(), "seen": _ranges(sorted(self._seen))})

    def _published(self) -> int:
        """Return the last change in the snapshot that is current, -1 without one."""
        try:
            path = (self._directory / "current").resolve(strict=True).with_suffix(".json")
        except OSError:
            return -1
        return int(read_json(path).get("change", -1))

    def _flush(self) -> None:
        """Flush the store to disk and return free memory. Reopens the store when its cache has grown."""
        self._store.flush()
        self._unflushed = 0
        memory.give_back()
        if memory.resident() - self._resident >= REOPEN_BYTES:
            self._is_open = False
            del self._store  # and with it the lock on the directory
            memory.give_back()
            self._open()

    def _open(self) -> None:
        self._store = pyoxigraph.Store(str(self._directory / "live"))
        self._resident, self._is_open = memory.resident(), True

    def _publish(self, change: int, changes: Sequence[tuple[int, int]]) -> None:
        """Publish an immutable copy of the store (hard links) and switch to it in one step."""
        self._flush()
        name = f"snapshot-{datetime.now(UTC):%Y%m%d%H%M%S%f}"
        self._store.backup(str(self._directory / name))
        position = {"change": change, "at": datetime.now(UTC).isoformat(), "quads": len(self._store)}
        # The position lies beside the snapshot before the link leads to it, or a reader would find none.
        (self._directory / f"{name}.json").write_text(json.dumps(position))
        link = self._directory / "next"
        link.unlink(missing_ok=True)
        link.symlink_to(name)
        link.replace(self._directory / "current")
        self._save_position(change, changes)
        for old in sorted(self._directory.glob("snapshot-*[0-9]"))[: -1 - KEPT]:
            shutil.rmtree(old, ignore_errors=True)
            old.with_suffix(".json").unlink(missing_ok=True)


def _nodes(keys: set[int]) -> dict[int, Node]:
    """Return the nodes of stored terms by key, None for terms that are invalid RDF."""
    nodes: dict[int, Node] = {}
    for key, term in read_terms(keys).items():
        try:
            nodes[key] = node(term)
        except ValueError:
            nodes[key] = None
    return nodes


def _quads(
    rows: Iterable[tuple[int, int, int, int]], nodes: Mapping[int, Node], missing: Counter[int]
) -> Iterator[pyoxigraph.Quad]:
    """Yield the quads of these keys. Counts invalid ones of each context in `missing`."""
    for row in rows:
        s, p, o, c = (nodes.get(key) for key in row)
        try:
            quad = pyoxigraph.Quad(s, p, o, c)  # type: ignore[arg-type]
        except TypeError:  # one of them is None, or a literal where none may stand
            missing[row[3]] += 1
            continue
        if c is None:  # which Oxigraph takes for its default graph
            missing[row[3]] += 1
        else:
            yield quad


def _ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Return ascending numbers as pairs of first and last."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a file of JSON, empty if there is none."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def write_json(path: Path, content: object) -> None:
    """Write JSON to a file in one step, so that no reader sees half of it."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content))
    new.replace(path)


def home() -> Path:
    """Return the directory of the replica."""
    return Path(settings.DATA_DIR) / "sparql"


def snapshot() -> tuple[Path, State] | None:
    """Return the newest snapshot and its state, None without one."""
    try:
        path = (home() / "current").resolve(strict=True)
        state = json.loads(path.with_suffix(".json").read_text())
        return path, State(int(state["change"]), datetime.fromisoformat(state["at"]), int(state["quads"]))
    except (OSError, ValueError, KeyError):
        return None


def lag(state: State) -> int:
    """Count the changes of graphs that the snapshot does not hold yet."""
    return GraphChange.objects.filter(id__gt=state.change).count()


def is_behind() -> bool:
    """Return whether there is a change of the graph that this machine's newest snapshot does not hold."""
    newest = snapshot()
    changes = (
        GraphChange.objects.all() if newest is None else GraphChange.objects.filter(id__gt=newest[1].change)
    )
    return changes.exists()


def behind() -> int:
    """Count the changes that SPARQL does not see on this machine, 0 if no replica has ever run."""
    newest = snapshot()
    return lag(newest[1]) if newest else 0


def set_aside() -> list[tuple[str, str]]:
    """Return the addresses of graphs missing or incomplete in the replica, with reasons."""
    return [(entry["url"], entry["reason"]) for entry in read_json(home() / ASIDE).values()]


def trouble(now: datetime) -> str:
    """Describe what is wrong with this machine's replica; empty for nothing, or if none has ever run."""
    try:
        sign_of_life = read_json(home() / ALIVE)
        if not sign_of_life:
            return ""
        at = datetime.fromisoformat(sign_of_life["at"])
        # A sign ahead of the clock was given before that was turned back. A replica that holds all may rest.
        if abs(now - at) > SILENT and is_behind():
            return Reason(
                "the replica for SPARQL has given no sign of life since {0} UTC", f"{at:%Y-%m-%d %H:%M:%S}"
            )
        return str(sign_of_life.get("trouble", ""))
    except (ValueError, KeyError, TypeError) as error:
        return Reason("the replica's sign of life cannot be read: {0}", str(error))
