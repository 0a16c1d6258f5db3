"""Transformers behind HTTP: what they are sent, what they add, and what their failures cost."""

from __future__ import annotations

import hashlib
import uuid
import zlib

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from crawler.frontier.models import Body
from crawler.pipeline.inline import work_off
from crawler.pipeline.models import Document, HttpTransformer
from crawler.pipeline.transform.dispatch import VERSION, transform
from crawler.pipeline.transform.graph import SourceDocument as Given
from crawler.pipeline.transform.plugins import PATIENCE, Plugin, PluginError, Plugins
from crawler.reading import detect as types
from crawler.reading.errors import ReadingError
from tests.crawler.pipeline.test_store import lines, transformed
from tests.factories import make_token, make_user
from tests.servers import Reply, WebServer

URL = "http://site.example/recipe"
PAGE = b"<html><head><title>T</title></head><body><h1>Soup</h1></body></html>"
OURS = f'<{URL}> <http://purl.org/dc/terms/title> "T" .'
THEIRS = f'<{URL}> <http://x.example/heading> "Soup" .'
N_TRIPLES = "application/n-triples"


def plugins(kind: str, body: bytes, *rules: Plugin) -> Plugins:
    return Plugins(rules or (Plugin("theirs", "http://127.0.0.1/"),), lambda _, __: (kind, body))


def made(given: Plugins) -> tuple[list[str], tuple[str, ...]]:
    found = transform(Given(URL, types.HTML, PAGE), plugins=given)
    return found.triples.split("\n"), found.notes


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (N_TRIPLES, THEIRS.encode()),
        ("text/turtle; charset=utf-8", b'<> <http://x.example/heading> "Soup" .'),
        ("application/ld+json", b'{"@id": "", "http://x.example/heading": "Soup"}'),
        (
            "application/rdf+xml",
            b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='http://x.example/'>"
            b"<rdf:Description rdf:about=''><x:heading>Soup</x:heading></rdf:Description></rdf:RDF>",
        ),
        (
            "application/rdf+xml",
            b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='http://x.example/'>"
            b"<rdf:Description rdf:about=''><x:heading>S<![CDATA[oup]]></x:heading></rdf:Description>"
            b"</rdf:RDF>",
        ),
        ("text/turtle", b'\xef\xbb\xbf<> <http://x.example/heading> "Soup" .'),
    ],
)
def test_what_it_answers_is_added_to_ours(kind: str, body: bytes) -> None:
    found, notes = made(plugins(kind, body))
    assert {OURS, THEIRS} <= set(found)
    assert notes == ()


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        ("text/html", b"<html>", "'text/html' is none of"),
        (N_TRIPLES, b"no triples", "skipped"),
        ("application/rdf+xml", b"<!DOCTYPE x [<!ENTITY a 'b'>]><x/>", "it declares entities"),
        ("application/ld+json", b"[" * 10_000, "too-deep"),
        ("application/ld+json", b"{", "malformed"),
    ],
)
def test_a_bad_answer_is_a_note(kind: str, body: bytes, reason: str) -> None:
    found, notes = made(plugins(kind, body))
    assert OURS in found
    assert reason in " ".join(notes)


def test_it_is_for_some_documents_only() -> None:
    rules = (Plugin("a", "http://a/", types=("atom",)), Plugin("b", "http://b/", pattern="/other$"))
    found, notes = made(plugins(N_TRIPLES, THEIRS.encode(), *rules))
    assert (THEIRS in found, notes) == (False, ())


def test_one_that_fails_again_and_again_is_left_out_for_the_batch() -> None:
    asked = []

    def fail(address: str, _: Given) -> tuple[str, bytes]:
        asked.append(address)
        raise PluginError("timeout")

    given = Plugins((Plugin("theirs", "http://127.0.0.1/"),), fail)
    notes = [made(given)[1] for _ in range(4)]
    assert len(asked) == PATIENCE
    assert notes[0] == ("the plug-in theirs failed: timeout",)
    assert notes[3] == (f"the plug-in theirs was left out: it failed {PATIENCE} times",)


@pytest.mark.django_db
def test_a_service_is_sent_the_document_and_its_address() -> None:
    with WebServer() as web:
        web.replies["/heading"] = Reply(THEIRS.encode(), headers={"Content-Type": N_TRIPLES})
        web.replies["/gone"] = Reply(status=500)
        HttpTransformer.objects.create(name="heading", address=f"{web.origin}/heading", types=["html"])
        HttpTransformer.objects.create(name="broken", address=f"{web.origin}/gone")
        HttpTransformer.objects.create(name="off", address=f"{web.origin}/off", enabled=False)
        row = with_body(PAGE)
        work_off()
    assert sorted(request.path for request in web.requests) == ["/gone", "/heading"]
    request = next(one for one in web.requests if one.path == "/heading")
    assert request.body == PAGE
    assert request.headers["content-type"] == "text/html"
    assert request.headers["content-location"] == URL
    row.refresh_from_db()
    assert row.state == Document.State.DONE
    (note,) = row.notes
    assert note.startswith("the plug-in broken failed: ")
    assert note.endswith("http-500")
    assert '"Soup"' in " ".join(lines(URL))


@pytest.mark.django_db
def test_other_networks_stay_closed() -> None:
    HttpTransformer.objects.create(name="inside", address="http://10.0.0.1/")
    row = with_body(PAGE)
    work_off()
    row.refresh_from_db()
    assert "blocked-address" in row.notes[0]


def with_body(body: bytes) -> Document:
    """A document of this content that waits for transform."""
    row = transformed("", URL)
    key = uuid.UUID(bytes=hashlib.sha256(body).digest()[:16])
    stored = Body.objects.create(digest=key, content=zlib.compress(body), size=len(body))
    Document.objects.filter(pk=row.pk).update(
        state="detected", type="html", content_type="text/html", body=stored, lease=None, leased_until=None
    )
    return row


@pytest.mark.django_db
def test_staff_names_them_and_mistakes_are_named(client: Client) -> None:
    reader, staff = make_token(make_user()), make_token(make_user(staff=True))
    given = {"name": "n", "address": "http://127.0.0.1:8001/", "types": ["html"]}

    def post(token: str, **changes: object) -> int:
        return client.post(
            "/api/http-transformers/",
            given | changes,
            content_type="application/json",
            headers={"Authorization": token},
        ).status_code

    assert post(reader) == 403
    assert post(staff, address="file:///etc/passwd") == 400
    assert post(staff, types=["pictures"]) == 400
    assert post(staff, pattern="(") == 400
    assert post(staff) == 201
    with pytest.raises(ValidationError):
        HttpTransformer(name="x", address="nowhere").full_clean()


def test_json_of_no_known_kind_is_theirs_to_read() -> None:
    given = Given(URL, types.JSON, b'{"a": 1}')
    rules = (Plugin("theirs", "http://127.0.0.1/", types=("json",)),)
    found = transform(given, plugins=plugins(N_TRIPLES, THEIRS.encode(), *rules))
    assert (found.triples, found.transformer) == (THEIRS, f"others@{VERSION}")
    nothing = transform(given, plugins=plugins(N_TRIPLES, b"", *rules))
    assert (nothing.triples, nothing.notes) == ("", ()), "it was asked and had nothing to say"
    for answers in (
        plugins(N_TRIPLES, THEIRS.encode(), Plugin("other", "http://127.0.0.1/", types=("html",))),
        plugins("text/html", b"<html>", *rules),
    ):
        with pytest.raises(ReadingError, match="unsupported-type"):
            transform(given, plugins=answers)
