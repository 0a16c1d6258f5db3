"""The pages, the API and the admin of the pipeline and of its graph."""

from __future__ import annotations

import pyoxigraph
import pytest
from django.test import Client

from articles.models import Article, Page
from crawler.pipeline.documents import bury
from crawler.pipeline.models import Document, LinkQuery, UriFilter
from crawler.text.keys import digest
from tests.crawler.pipeline.test_store import NOW, indexed
from tests.factories import make_feed, make_token, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("link_queries")]

GRAPH = """<http://site.example/page> <http://purl.org/dc/terms/title> "The harbour wall" .
<http://site.example/page> <http://www.w3.org/2000/01/rdf-schema#seeAlso> <http://site.example/feed> .
<http://site.example/page> <http://xmlns.com/foaf/0.1/topic> _:b0 .
_:b0 <http://xmlns.com/foaf/0.1/name> "danger <script>x</script>" ."""
PAGES = (
    "/pipeline/",
    "/pipeline/documents/",
    "/pipeline/links/",
    "/pipeline/stylesheets/",
    "/graph/",
    "/graph/entity/?iri=http://site.example/page",
    "/graph/export.nq?host=site.example",
    "/api/pipeline/",
    "/api/documents/",
    "/api/link-queries/",
    "/api/uri-filters/",
    "/api/graph/quads/",
    "/api/graph/search/?q=harbour",
    "/api/graph/export/?host=site.example&as=trig",
)


@pytest.fixture
def document() -> Document:
    row = indexed(GRAPH)
    Document.objects.update(state="done")
    return row


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(make_user(staff=True, is_superuser=True))
    return client


def dead(document: Document) -> None:
    bury(document, "transform", "malformed", "it breaks off").save()


@pytest.mark.parametrize("path", PAGES)
def test_strangers_see_nothing_and_readers_everything(client: Client, document: Document, path: str) -> None:
    assert client.get(path).status_code in {302, 401, 403}
    client.force_login(make_user())
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/pipeline/again/", {}),
        ("/pipeline/links/change/", {"action": "add", "pattern": "x", "allow": "deny"}),
        ("/api/documents/again/", {}),
        ("/api/link-queries/", {"name": "x", "predicates": ["http://p.example/"]}),
        ("/api/uri-filters/", {"pattern": "x"}),
    ],
)
def test_only_staff_changes_things(
    client: Client, document: Document, path: str, data: dict[str, str]
) -> None:
    dead(document)
    client.force_login(make_user())
    assert client.post(path, data, content_type="application/json").status_code == 403
    assert client.post(path, data).status_code == 403
    assert not UriFilter.objects.exists()
    assert Document.objects.get().state == "dead"


def test_the_pipeline_page_shows_phases_workers_and_dead_letters(staff: Client, document: Document) -> None:
    page = staff.get("/pipeline/").content.decode()
    assert "92" in page, "what the paper's node indexed in a second"
    assert "All texts are read." in page
    dead(document)
    page = staff.get("/pipeline/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in page
    assert "failed_phase=transform&amp;failure=malformed" in page
    assert "All texts are read; 1 document could not be read." in page
    figures = staff.get("/pipeline/?figures=1", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in figures
    assert "Workers, last hour" in figures
    listed = staff.get("/pipeline/documents/?state=dead&failure=malformed").content.decode()
    assert "it breaks off" in listed
    assert "No document is like that" in staff.get("/pipeline/documents/?failure=other").content.decode()
    staff.post("/pipeline/again/", {"failed_phase": "transform", "failure": "other"})
    assert Document.objects.get().state == "dead"
    staff.post("/pipeline/again/", {"failed_phase": "transform", "failure": "malformed"})
    assert Document.objects.get().state == "fetched"


def test_rules_are_switched_added_tried_and_taken_away(staff: Client, document: Document) -> None:
    def change(**data: object) -> int:
        return staff.post("/pipeline/links/change/", data).status_code

    page = staff.get("/pipeline/links/?dry=1").content.decode()
    assert "http://site.example/feed" in page
    assert "find 1 address and refuse 0" in page
    assert change(action="add", pattern="(", allow="deny") == 422
    assert change(action="add", pattern="/feed$", allow="deny") == 302
    assert "find 0 addresses and refuse 1" in staff.get("/pipeline/links/?dry=1").content.decode()
    rule = UriFilter.objects.get()
    assert rule.hits == 0, "a dry run counts nothing"
    change(action="switch-filter", id=rule.pk)
    assert "find 1 address and refuse 0" in staff.get("/pipeline/links/?dry=1").content.decode()
    change(action="delete-filter", id=rule.pk)
    assert not UriFilter.objects.exists()
    query = LinkQuery.objects.get(name="Feeds and data")
    change(action="switch-query", id=query.pk)
    query.refresh_from_db()
    assert not query.enabled
    assert change(action="switch-query", id="x") == 404


def test_words_lead_to_things_and_things_to_who_says_what(staff: Client, document: Document) -> None:
    page = staff.get("/graph/?q=harbour").content.decode()
    assert "The harbour wall" in page
    assert "Nothing that was read has the words" in staff.get("/graph/?q=elephant").content.decode()
    thing = staff.get("/graph/entity/", {"iri": "http://site.example/page"}).content.decode()
    assert "By itself" in thing
    assert "Where it came from" in thing
    assert ">dct:title<" in thing
    feed = staff.get("/graph/entity/", {"iri": "http://site.example/feed"}).content.decode()
    assert "Where it is named" in feed
    hostile = staff.get("/graph/?q=danger").content.decode()
    assert "<script>x" not in hostile
    assert "&lt;script&gt;x" in hostile
    for unknown in ("http://nobody.example/", "nonsense", ""):
        assert staff.get("/graph/entity/", {"iri": unknown}).status_code == 404


def test_graphs_are_exported_as_they_are(staff: Client, document: Document) -> None:
    answer = staff.get("/graph/export.nq", {"url": "http://site.example/page"})
    assert answer["Content-Type"] == "application/n-quads"
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 4
    assert all(line.endswith(" <http://site.example/page> .") for line in lines)


def exported(client: Client, form: str, **asked: object) -> pyoxigraph.Dataset:
    """The graph in a file, blank nodes renamed."""
    answer = client.get(f"/graph/export.{form}", asked)
    formats = {"nq": "N_QUADS", "trig": "TRIG", "jsonld": "JSON_LD"}
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    graph = pyoxigraph.Dataset(pyoxigraph.parse(content, format=getattr(pyoxigraph.RdfFormat, formats[form])))
    graph.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
    return graph


def test_every_format_holds_the_same_graphs(staff: Client, document: Document) -> None:
    indexed('<http://site.example/b> <http://purl.org/dc/terms/title> "B"@en .', "http://site.example/b")
    whole = exported(staff, "nq", host="site.example")
    assert len(whole) == 5
    assert exported(staff, "trig", host="site.example") == whole
    assert exported(staff, "jsonld", host="site.example") == whole
    assert exported(staff, "jsonld", day="2026-11-01") == whole
    assert len(exported(staff, "jsonld", day="2026-11-02")) == 0


def test_a_feeds_export_is_its_document_and_its_articles_pages(staff: Client, document: Document) -> None:
    feed = make_feed(url="http://site.example/feed")
    indexed('<http://site.example/feed> <http://purl.org/dc/terms/title> "F" .', "http://site.example/feed")
    page = Page.objects.create(url="http://site.example/page", url_key=digest("x"), host=document.host)
    values = {
        "identity": "1",
        "identity_key": digest("1"),
        "published": NOW,
        "dating": "feed",
        "fetched": NOW,
    }
    Article.objects.create(feed=feed, page=page, **values)
    assert len(exported(staff, "nq", feed=feed.pk)) == 5


@pytest.mark.parametrize("asked", [{}, {"feed": "77"}, {"feed": "x"}, {"day": "yesterday"}])
def test_exports_of_nothing_say_why(client: Client, asked: dict[str, str]) -> None:
    client.force_login(make_user())
    assert client.get("/graph/export.nq", asked).status_code == 404
    assert client.get("/api/graph/export/", asked).status_code == 400
    assert client.get("/graph/export.pdf", {"host": "x"}).status_code == 404


def test_the_api_answers_patterns_words_and_mistakes(client: Client, document: Document) -> None:
    token = {"Authorization": make_token(make_user(staff=True))}

    def get(path: str, **asked: object) -> object:
        answer = client.get(f"/api/{path}/", asked, headers=token)
        return answer.json() if answer.status_code == 200 else answer.status_code

    title = "http://purl.org/dc/terms/title"
    (quad,) = get("graph/quads", predicate=title)  # type: ignore[misc]
    assert quad == {
        "subject": "<http://site.example/page>",
        "predicate": f"<{title}>",
        "object": '"The harbour wall"',
        "context": "<http://site.example/page>",
    }
    assert get("graph/quads", object='"The harbour wall"', predicate=f"<{title}>") == [quad]
    assert get("graph/quads", context="http://site.example/page", limit=1) != []
    long = {"object": '"' + "x" * 20_000 + '"', "predicate": f"<{title}>"}
    assert client.post("/api/graph/quads/", long, content_type="application/json", headers=token).json() == []
    pattern = {"object": '"The harbour wall"', "predicate": f"<{title}>"}
    assert client.post(
        "/api/graph/quads/", pattern, content_type="application/json", headers=token
    ).json() == [quad]
    for wrong in ({"object": "x"}, {"limit": 0}, {"subject": "\0"}):
        answer = client.post("/api/graph/quads/", wrong, content_type="application/json", headers=token)
        assert answer.status_code == 400
    for wrong in ({"subject": "nonsense"}, {"limit": "0"}, {"limit": "x"}):
        assert get("graph/quads", **wrong) == 400
    (hit,) = get("graph/search", q="wall")  # type: ignore[misc]
    assert hit["quad"] == quad
    assert [phase["phase"] for phase in get("pipeline")] == [  # type: ignore[attr-defined]
        "fetch", "detect", "transform", "index", "extract",
    ]  # fmt: skip
    assert get("documents", state="done")["count"] == 1  # type: ignore[index]
    wrong_rule = client.post("/api/uri-filters/", {"pattern": "("}, headers=token)
    assert wrong_rule.status_code == 400
    dead(document)
    assert client.post("/api/documents/again/", {}, headers=token).json() == {"sent": 1}


def test_the_admin_shows_documents_and_sends_them_again(staff: Client, document: Document) -> None:
    for name in ("document", "graphchange", "linkquery", "urifilter"):
        assert staff.get(f"/admin/pipeline/{name}/").status_code == 200
    assert staff.get(f"/admin/pipeline/document/{document.pk}/change/").status_code == 200
    dead(document)
    staff.post("/admin/pipeline/document/", {"action": "send_again", "_selected_action": [document.pk]})
    assert Document.objects.get().state == "fetched"
