"""Documents of a site on loopback, through all phases; leases, dead letters, what is sent again."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pyoxigraph
import pytest
from django.core.management import CommandError, call_command

from crawler.frontier.crawls import begin
from crawler.frontier.models import Body, Crawl, CrawlUrl
from crawler.inline import work_off as fetch_all
from crawler.operation.site.retention import delete_unused_bodies
from crawler.pipeline import phases
from crawler.pipeline.documents import LEASE_SECONDS, lease, queues, resend, settle, sweep, take_crawl, work
from crawler.pipeline.export import FORMS, chunks
from crawler.pipeline.extract import extracted
from crawler.pipeline.index import context_of, index
from crawler.pipeline.inline import run_crawl, step_of, work_off
from crawler.pipeline.models import Document, HttpTransformer, LinkQuery, PhaseFigure, UriFilter
from crawler.pipeline.phases import run
from crawler.pipeline.store import quads
from crawler.pipeline.terms import iri
from tests.servers import Reply, WebServer

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("terminal_on_loopback", "link_queries"),
]

PAGE = """<!doctype html><html><head><title>Home</title>
<link rel="alternate" type="application/rss+xml" href="/feed"></head><body><a href="/a">A</a></body></html>"""
FEED = """<rss version="2.0"><channel><title>F</title><link>/</link>
<item><title>Hidden</title><link>/hidden</link></item></channel></rss>"""


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as web:
        web.replies |= {
            "/": Reply(PAGE.encode(), headers={"Content-Type": "text/html", "ETag": '"one"'}),
            "/a": Reply(b"<html><title>A</title></html>", headers={"Content-Type": "text/html"}),
            "/feed": Reply(FEED.encode(), headers={"Content-Type": "application/rss+xml"}),
            "/hidden": Reply(b"<html><title>Hidden</title></html>", headers={"Content-Type": "text/html"}),
            "/data": Reply(b'{"a": 1}', headers={"Content-Type": "application/json"}),
        }
        yield web


def pipeline(*arguments: object) -> dict[str, Any]:
    out = StringIO()
    call_command("pipeline", *map(str, arguments), "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert isinstance(told, dict)
    return told


def fetched(site: WebServer, *paths: str) -> Crawl:
    """A crawl that has fetched these, nothing transformed yet."""
    crawl = begin(Crawl(seeds=[site.origin + path for path in paths], max_depth=0, into_graph=True))
    fetch_all()
    assert crawl.documents.filter(state="fetched").count() == len(paths)
    assert take_crawl(crawl) == 0, "they came in with their check-in"
    return crawl


def test_validators_are_found_whatever_the_case_of_their_headers(site: WebServer) -> None:
    crawl = fetched(site, "/")
    assert crawl.documents.get().etag == '"one"'
    headers = [["x-etag", '"no"'], ["ETAG", '"two"'], ["Last-Modified", "Sat, 06 Mar 2021 14:05:09 GMT"]]
    CrawlUrl.objects.filter(crawl=crawl).update(headers=headers)
    Document.objects.all().delete()
    take_crawl(crawl)
    found = crawl.documents.get()
    assert (found.etag, found.last_modified) == ('"two"', "Sat, 06 Mar 2021 14:05:09 GMT")


def states() -> dict[str, str]:
    return {url.rpartition("/")[2]: state for url, state in Document.objects.values_list("url", "state")}


def test_addresses_go_through_every_phase(site: WebServer) -> None:
    told = pipeline(site.origin + "/", site.origin + "/feed", site.origin + "/data", site.origin + "/missing")
    assert (told["documents"], told["done"], told["dead"]) == (3, 2, 1)
    assert told["failures"] == [{"phase": "transform", "cause": "unsupported-type", "documents": 1}]
    assert told["types"] == {"html": 1, "rss-2.0": 1, "json": 1}
    counts = {name: (one["documents"], one["failures"]) for name, one in told["phases"].items()}
    assert counts == {
        "fetch": (4, 1), "detect": (3, 0), "transform": (3, 1), "index": (2, 0), "extract": (2, 0)
    }  # fmt: skip
    assert told["phases"]["detect"]["pages_per_second"] > 0
    (title,) = quads(iri(site.origin + "/"), iri("http://purl.org/dc/terms/title"))
    assert title.object.value == "Home"
    again = pipeline("--crawl", told["crawl"])
    assert again["phases"]["transform"]["documents"] == 0, "nothing has changed"


def test_fetching_is_counted_too(site: WebServer) -> None:
    fetched(site, "/", "/a")
    figure = PhaseFigure.objects.get(phase="fetch")
    assert (figure.documents, figure.failures) == (2, 0)
    assert figure.seconds > 0


def test_words_for_people_and_for_mistakes(site: WebServer) -> None:
    out = StringIO()
    call_command("pipeline", site.origin + "/", stdout=out)
    assert "1 of 1 through" in out.getvalue()
    for arguments in ([], ["http://a.example/", "--crawl", "1"], ["--crawl", "77"], ["http://["]):
        with pytest.raises(CommandError):
            call_command("pipeline", *arguments, stdout=StringIO())


def test_the_graph_names_the_next_pages(site: WebServer) -> None:
    crawl = begin(Crawl(seeds=[site.origin + "/"], into_graph=True, scope=[r"^" + site.origin]))
    run_crawl(crawl, 4, lambda: None)
    crawl.refresh_from_db()
    assert crawl.state == "done"
    assert states() == {"": "done", "a": "done", "feed": "done", "hidden": "done"}, "the feed led to the last"
    assert LinkQuery.objects.get(name="Items of feeds").hits == 2


def test_a_crawl_of_what_was_read_before_is_led_by_the_stored_graph(site: WebServer) -> None:
    """Unchanged documents were left out, and the crawl ended after its seeds."""
    asked: list[list[str]] = []
    for _ in range(2):
        site.requests.clear()
        crawl = begin(Crawl(seeds=[site.origin + "/feed"], into_graph=True, scope=[r"^" + site.origin]))
        run_crawl(crawl, 4, lambda: None)
        asked.append(sorted(set(site.paths) - {"/robots.txt"}))
        assert Document.objects.filter(crawl=crawl).count() == len(asked[-1])
    assert asked[0] == asked[1] == ["/", "/a", "/feed", "/hidden"]


def test_a_document_on_its_way_stays_with_the_crawl_that_runs(site: WebServer) -> None:
    first = fetched(site, "/feed")
    Crawl.objects.filter(pk=first.pk).update(state=Crawl.State.RUNNING)
    second = begin(Crawl(seeds=[site.origin + "/feed"], max_depth=0, into_graph=True))
    fetch_all()
    assert Document.objects.get().crawl == first
    Crawl.objects.filter(pk=first.pk).update(state=Crawl.State.DONE)
    take_crawl(second)
    assert Document.objects.get().crawl == second
    assert Document.objects.get().state == "fetched"


PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


@pytest.mark.parametrize("types", [["binary"], ["html"]])
def test_pictures_come_to_the_transformer_that_names_their_type(site: WebServer, types: list[str]) -> None:
    """Each failed as an unsupported type when it was fetched, and no transformer was ever asked."""
    site.replies["/photo.png"] = Reply(PNG, headers={"Content-Type": "image/png"})
    shown = f'<{site.origin}/photo.png> <http://x.example/width> "64" .'
    site.replies["/width"] = Reply(shown.encode(), headers={"Content-Type": "application/n-triples"})
    HttpTransformer.objects.create(name="pictures", address=f"{site.origin}/width", types=types)
    told = pipeline(site.origin + "/photo.png", site.origin + "/a")
    wanted = types == ["binary"]
    assert told["done"] == 1 + wanted
    asked = {request.body for request in site.requests if request.path == "/width"}
    assert (PNG in asked) is wanted
    if wanted:
        (width,) = quads(iri(site.origin + "/photo.png"), iri("http://x.example/width"))
        assert width.object.value == "64"
    else:
        assert told["documents"] == 1, "its bytes are of no use to anybody"


def test_filters_say_which_addresses_are_wanted_and_dry_runs_queue_nothing(site: WebServer) -> None:
    fetched(site, "/", "/feed")
    work_off()
    contexts = {row.pk: context_of(row).key() for row in Document.objects.all()}
    queries = list(LinkQuery.objects.all())
    rules = [UriFilter.objects.create(pattern="/hid", allow=False)]
    found = extracted(contexts, queries, [])
    assert sorted(url for urls in found.found.values() for url in urls) == [
        site.origin + "/",
        site.origin + "/feed",
        site.origin + "/hidden",
    ]
    kept = extracted(contexts, queries, [rules[0], UriFilter(pk=99, pattern="feed", allow=True)])
    assert sorted(url for urls in kept.found.values() for url in urls) == [
        site.origin + "/",
        site.origin + "/feed",
    ]
    assert (kept.denied, kept.filters) == (1, {rules[0].pk: 1, 99: 1})


def test_what_was_lost_with_its_worker_comes_back_alone_and_in_the_end_is_a_dead_letter(
    site: WebServer,
) -> None:
    fetched(site, "/", "/a", "/feed")
    now = datetime.now(UTC)
    assert len(lease("detect", now)) == 3
    assert lease("detect", now) == []
    assert sweep(now) == 0
    sizes = []
    for _ in range(7):
        now += timedelta(seconds=LEASE_SECONDS + 1)
        sweep(now)
        sizes.append(len(lease("detect", now)))
    assert sizes == [1, 1, 1, 1, 1, 1, 0], "three lost together, then each of them twice alone"
    dead = set(Document.objects.values_list("state", "failed_phase", "failure"))
    assert dead == {("dead", "detect", "lost")}
    assert queues()["dead"] == 3
    assert resend(Document.objects.all()) == 3
    assert work_off() == 3 * 4
    assert set(states().values()) == {"done"}


@pytest.mark.parametrize("phase", ["detect", "transform"])
def test_an_answer_that_comes_twice_or_too_late_changes_nothing(site: WebServer, phase: str) -> None:
    fetched(site, "/")
    while phase != "detect" and Document.objects.get().state == "fetched":
        step_of("detect")
    (batch,) = work(phase, lease(phase, datetime.now(UTC)))
    done = run(batch, "w")
    assert settle(done) == 1
    after = Document.objects.values().get()
    assert settle(done) == 0
    assert Document.objects.values().get() == after
    assert PhaseFigure.objects.get(phase=phase).documents == 1


def test_a_fault_of_ours_is_a_dead_letter_and_reaches_no_other(
    site: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched(site, "/", "/a")
    whole = phases.transform

    def broken(document: Any, **options: Any) -> Any:
        if document.url.endswith("/a"):
            raise TypeError("what nobody thought of")
        return whole(document, **options)

    monkeypatch.setattr(phases, "transform", broken)
    work_off()
    assert states() == {"": "done", "a": "dead"}
    dead = Document.objects.get(state="dead")
    assert (dead.failure, dead.detail) == ("error", "TypeError: what nobody thought of")


def test_damaged_triples_are_a_dead_letter(site: WebServer) -> None:
    fetched(site, "/", "/a")
    for phase in ("detect", "transform"):
        step_of(phase)
    Document.objects.filter(url__endswith="/a").update(triples=b"nonsense")
    (row, *_) = lease("index", datetime.now(UTC))
    assert row.lease is not None
    assert index(row.lease, "w") == 2
    assert states() == {"": "indexed", "a": "dead"}


def test_a_page_fetched_again_replaces_its_graph(site: WebServer) -> None:
    fetched(site, "/a")
    work_off()
    site.replies["/a"] = Reply(b"<html><title>New</title></html>", headers={"Content-Type": "text/html"})
    fetched(site, "/a")
    work_off()
    titles = quads(iri(site.origin + "/a"), iri("http://purl.org/dc/terms/title"))
    assert [quad.object.value for quad in titles] == ["New"]
    assert Document.objects.get().version == 2


def test_contents_stay_while_a_document_has_them(site: WebServer) -> None:
    crawl = fetched(site, "/a")
    crawl.delete()
    assert delete_unused_bodies() == 0
    assert Body.objects.count() == 1
    Document.objects.all().delete()
    assert delete_unused_bodies() == 1


def test_what_is_exported_reads_back_as_the_same_graph(site: WebServer) -> None:
    fetched(site, "/", "/feed")
    work_off()
    for row in Document.objects.all():
        text = b"".join(chunks(Document.objects.filter(pk=row.pk), FORMS["nq"]))
        parsed = pyoxigraph.Dataset(pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.N_QUADS))
        (batch,) = work("transform", [row])
        (outcome,) = run(batch, "w").outcomes
        source = pyoxigraph.Dataset(
            pyoxigraph.Quad(one.subject, one.predicate, one.object, pyoxigraph.NamedNode(row.url))
            for one in pyoxigraph.parse(
                zlib.decompress(outcome.triples), format=pyoxigraph.RdfFormat.N_TRIPLES
            )
        )
        assert len(parsed) == row.quads
        for dataset in (parsed, source):
            dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
        assert parsed == source
