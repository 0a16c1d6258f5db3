"""The mirror of the graph: a small graph store on loopback that stops, refuses and asks for passwords."""

from __future__ import annotations

import base64
import http.server
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyoxigraph
import pytest
from django.core.management import call_command

from crawler.operation.deployment import doctor
from crawler.pipeline.models import GraphChange
from crawler.pipeline.sparql import mirror as mirrors
from crawler.pipeline.sparql.mirror import MAX_REFUSALS, Mirror
from crawler.pipeline.sparql.replica import Replica, trouble
from tests.crawler.pipeline.test_store import URL, indexed, triple

pytestmark = pytest.mark.django_db
OTHER = "http://site.example/other"


class GraphStore:
    """A store that speaks the protocol; `status` is what it answers instead, by graph or to all ("")."""

    def __init__(self) -> None:
        self.store = pyoxigraph.Store()
        self.status: dict[str, int] = {}
        self.requests: list[tuple[str, str]] = []
        self.login = ""

    def graphs(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for quad in self.store:
            found.setdefault(quad.graph_name.value, set()).add(quad.object.value)
        return found

    def answer(self, method: str, name: str, body: bytes) -> int:
        self.requests.append((method, name))
        if status := self.status.get(name) or self.status.get(""):
            return status
        graph = pyoxigraph.NamedNode(name)
        known = any(True for _ in self.store.quads_for_pattern(None, None, None, graph))
        self.store.remove_graph(graph)
        if method == "DELETE":
            return 204 if known else 404
        self.store.load(body, format=pyoxigraph.RdfFormat.N_TRIPLES, to_graph=graph)
        return 204 if known else 201


@pytest.fixture
def store() -> Iterator[tuple[GraphStore, str]]:
    graph_store = GraphStore()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            wanted = f"Basic {base64.b64encode(graph_store.login.encode()).decode()}"
            if graph_store.login and self.headers.get("Authorization") != wanted:
                status = 401
            else:
                (name,) = parse_qs(urlsplit(self.path).query)["graph"]
                status = graph_store.answer(self.command, name, body)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_PUT = do_DELETE = answer

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield graph_store, f"http://127.0.0.1:{server.server_port}/store"
        server.shutdown()


@pytest.fixture
def replica(settings: Any, tmp_path: Path) -> Replica:
    settings.DATA_DIR = tmp_path
    return Replica()


def mirror_of(replica: Replica, address: str, tmp_path: Path, login: str = "") -> Mirror:
    return Mirror(address, login, tmp_path / "mirror.json", replica.content)


def test_it_follows_every_change(replica: Replica, store: tuple[GraphStore, str], tmp_path: Path) -> None:
    graph_store, address = store
    mirror = mirror_of(replica, address, tmp_path)
    indexed("\n".join([triple(1), triple(2)]))
    indexed(triple("a „quote“"), OTHER)
    replica.follow()
    assert mirror.follow() == 2
    graphs = graph_store.graphs()
    assert (graphs[URL], graphs[OTHER]) == ({"1", "2"}, {"a „quote“"})
    assert "urn:crawl:meta" in graphs
    indexed(triple(3))
    indexed("", OTHER)
    replica.follow()
    assert mirror.follow() == 2, graph_store.requests
    graphs = graph_store.graphs()
    assert graphs[URL] == {"3"}
    assert OTHER not in graphs
    before = len(graph_store.requests)
    assert mirror.follow() == 0
    assert len(graph_store.requests) == before, "nothing has changed"


def test_what_did_not_arrive_is_sent_again_also_after_a_restart(
    replica: Replica, store: tuple[GraphStore, str], tmp_path: Path
) -> None:
    graph_store, address = store
    graph_store.status[""] = 503
    mirror = mirror_of(replica, address, tmp_path)
    indexed(triple(1))
    replica.follow()
    assert mirror.follow() == 0
    assert "does not answer" in mirror.trouble
    sent = len(graph_store.requests)
    assert mirror.follow() == 0
    assert len(graph_store.requests) == sent, "it waits before it asks again"
    graph_store.status.clear()
    GraphChange.objects.update(at="2020-01-01T00:00:00Z")  # the file alone knows what waits
    restarted = mirror_of(replica, address, tmp_path)
    assert restarted.waiting == 1
    assert restarted.follow() == 1
    assert graph_store.graphs()[URL] == {"1"}
    assert restarted.trouble == ""


def test_a_store_that_is_away_harms_nothing(replica: Replica, tmp_path: Path) -> None:
    mirror = mirror_of(replica, "http://127.0.0.1:1/store", tmp_path)
    indexed(triple(1))
    replica.follow()
    assert mirror.follow() == 0
    assert mirror.waiting == 1


def test_a_graph_that_is_refused_is_set_aside_and_comes_back_with_its_next_change(
    replica: Replica, store: tuple[GraphStore, str], tmp_path: Path
) -> None:
    graph_store, address = store
    graph_store.status[URL] = 400
    mirror = mirror_of(replica, address, tmp_path)
    indexed(triple(1))
    indexed(triple(2), OTHER)
    replica.follow()
    for _ in range(MAX_REFUSALS + 2):
        mirror.follow()
    assert graph_store.graphs()[OTHER] == {"2"}
    assert list(mirror.aside) == [URL]
    assert sum(name == URL for _, name in graph_store.requests) == MAX_REFUSALS
    graph_store.status.clear()
    indexed(triple(9))
    replica.follow()
    assert mirror.follow() == 1
    assert mirror.aside == {}
    assert graph_store.graphs()[URL] == {"9"}


def test_a_redirect_stores_nothing(replica: Replica, store: tuple[GraphStore, str], tmp_path: Path) -> None:
    graph_store, address = store
    graph_store.status[""] = 301
    mirror = mirror_of(replica, address, tmp_path)
    indexed(triple(1))
    replica.follow()
    assert mirror.follow() == 0
    assert mirror.waiting == 1


def test_a_graph_that_the_store_cannot_take_delays_no_other(
    replica: Replica, store: tuple[GraphStore, str], tmp_path: Path
) -> None:
    graph_store, address = store
    graph_store.status[URL] = 500
    mirror = mirror_of(replica, address, tmp_path)
    indexed(triple(1))
    for number in range(MAX_REFUSALS + 1):
        indexed(triple(number), f"http://site.example/{number}")
        replica.follow()
        assert mirror.follow() == 1
    assert list(mirror.aside) == [URL]
    assert mirror.trouble == ""


def test_a_change_between_the_looks_is_not_lost(
    replica: Replica, store: tuple[GraphStore, str], tmp_path: Path
) -> None:
    graph_store, address = store
    mirror = mirror_of(replica, address, tmp_path)
    indexed(triple(1))
    mirror.look()
    replica.follow()
    indexed(triple(2))  # after the looks of both
    mirror.send()
    assert graph_store.graphs()[URL] == {"1"}
    mirror.look()
    replica.follow()
    mirror.send()
    assert graph_store.graphs()[URL] == {"2"}


def test_a_store_that_takes_very_long_does_not_hold_the_replica_up(
    replica: Replica, store: tuple[GraphStore, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrors, "MAX_TURN_SECONDS", 0.0)
    _, address = store
    mirror = mirror_of(replica, address, tmp_path)
    for number in range(3):
        indexed(triple(number), f"http://site.example/{number}")
    replica.follow()
    assert [mirror.follow() for _ in range(3)] == [1, 1, 1]


def test_it_signs_in(replica: Replica, store: tuple[GraphStore, str], tmp_path: Path) -> None:
    graph_store, address = store
    graph_store.login = "dba:se:crét€"
    indexed(triple(1))
    replica.follow()
    assert mirror_of(replica, address, tmp_path).follow() == 0
    assert mirror_of(replica, address, tmp_path, "dba:se:crét€").follow() == 1


def test_many_graphs_are_sent_in_turns(
    replica: Replica, store: tuple[GraphStore, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrors, "MAX_AT_ONCE", 2)
    _, address = store
    mirror = mirror_of(replica, address, tmp_path)
    for number in range(5):
        indexed(triple(number), f"http://site.example/{number}")
    replica.follow()
    assert [mirror.follow() for _ in range(4)] == [2, 2, 1, 0]


def test_a_mirror_that_is_away_leaves_the_deployment_well_and_the_doctor_tells(
    settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    settings.SPARQL_MIRROR_URL = "http://127.0.0.1:1/store"
    indexed(triple(1))
    call_command("sparql_replica", once=True)
    assert trouble(datetime.now(UTC)) == ""
    (finding,) = doctor.EXAMINATIONS["mirror"]()
    assert (finding.level, finding.sentence) == (
        "note",
        "Graphs that wait for the mirror: 1; refused by it: 0.",
    )


def test_the_command_mirrors_where_an_address_is_set(
    store: tuple[GraphStore, str], settings: Any, tmp_path: Path
) -> None:
    graph_store, address = store
    settings.DATA_DIR = tmp_path
    settings.SPARQL_MIRROR_URL = address
    indexed(triple(1))
    call_command("sparql_replica", once=True)
    assert graph_store.graphs()[URL] == {"1"}


def test_a_change_that_commits_during_a_long_copy_is_sent(
    replica: Replica, store: tuple[GraphStore, str], tmp_path: Path
) -> None:
    graph_store, address = store
    mirror = mirror_of(replica, address, tmp_path)
    indexed(triple(1))
    late = GraphChange.objects.get(url=URL)
    indexed(triple(2), OTHER)
    GraphChange.objects.filter(pk=late.pk).delete()  # as long as its transaction is open, nobody sees it
    replica.follow()
    mirror.follow()
    assert URL not in graph_store.graphs()
    now = datetime.now(UTC)
    mirror._looked = now - timedelta(hours=1)  # the replica has copied since then
    late.save()
    GraphChange.objects.filter(pk=late.pk).update(at=now - timedelta(minutes=59))
    replica._looked = mirror._looked
    mirror.look()
    replica.follow()
    mirror.send()
    assert graph_store.graphs()[URL] == {"1"}
