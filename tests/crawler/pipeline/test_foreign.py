"""Stylesheets of other people: what they add, and what they cannot do."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from crawler.pipeline.documents import work
from crawler.pipeline.messages import Sheet
from crawler.pipeline.models import Document, Stylesheet
from crawler.pipeline.transform import children, rdfa
from crawler.pipeline.transform.dispatch import VERSION, transform
from crawler.pipeline.transform.graph import SourceDocument as Given
from crawler.pipeline.transform.graph import Transformed
from crawler.reading import detect as types
from crawler.reading.errors import ReadingError
from tests.crawler.pipeline.test_store import transformed
from tests.factories import make_token, make_user
from tests.servers import Reply, WebServer

URL = "http://site.example/recipe"
HEAD = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.example/">
  <xsl:param name="url"/>"""
TITLE = (
    HEAD
    + """<xsl:template match="/"><rdf:RDF><rdf:Description rdf:about="{$url}">
  <x:heading><xsl:value-of select="//h1 | //name"/></x:heading></rdf:Description></rdf:RDF></xsl:template>
  </xsl:stylesheet>"""
)
PAGE = b"<html><head><title>T</title></head><body><h1>Soup</h1></body></html>"
OURS = f'<{URL}> <http://purl.org/dc/terms/title> "T" .'
THEIRS = f'<{URL}> <http://x.example/heading> "Soup" .'


def made(content: str, body: bytes = PAGE, kind: str = types.HTML, **options: object) -> Transformed:
    sheet = Sheet("theirs", content, **options)  # type: ignore[arg-type]
    return transform(Given(URL, kind, body), sheets=[sheet])


def template(body: str) -> str:
    return f'{HEAD}<xsl:template match="/">{body}</xsl:template></xsl:stylesheet>'


def test_it_adds_to_what_ours_say() -> None:
    lines = made(TITLE).triples.split("\n")
    assert OURS in lines
    assert THEIRS in lines


@pytest.mark.parametrize(
    ("options", "fits"),
    [
        ({"types": ("html",)}, True),
        ({"types": ("atom", "xml")}, False),
        ({"pattern": "/recipe$"}, True),
        ({"pattern": "/other"}, False),
        ({"pattern": "("}, False),
        ({"grddl": "http://x.example/sheet.xsl"}, False),
    ],
)
def test_it_is_for_some_documents_only(options: dict[str, object], fits: bool) -> None:
    assert (THEIRS in made(TITLE, **options).triples) == fits


def test_grddl_is_for_documents_that_name_it() -> None:
    page = PAGE.replace(b"<title>", b'<link rel="transformation" href="http://x.example/sheet.xsl"><title>')
    assert THEIRS in made(TITLE, page, grddl="http://x.example/sheet.xsl").triples
    assert THEIRS not in made(TITLE, page, grddl="http://x.example/other.xsl").triples


@pytest.mark.parametrize(
    "content",
    [
        template("<xsl:copy-of select=\"document('{secret}')\"/>"),
        HEAD + '<xsl:import href="{secret}"/></xsl:stylesheet>',
        '<!DOCTYPE x [<!ENTITY e SYSTEM "{secret}">]>' + template("<rdf:RDF>&e;</rdf:RDF>"),
        template("<xsl:copy-of select=\"document('http://127.0.0.1:1/')\"/>"),
    ],
)
def test_it_reads_no_file_and_no_network(content: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_text("<secret>hidden words</secret>")
    found = made(content.replace("{secret}", secret.as_uri()))
    assert OURS in found.triples
    assert "hidden words" not in found.triples
    assert "hidden words" not in " ".join(found.notes)


@pytest.mark.parametrize("word", ["include", "import"])
@pytest.mark.parametrize("address", ["{uri}", "{path}", "data.xsl", "http://127.0.0.1:{port}/sheet.xsl"])
def test_it_stands_alone(word: str, address: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.xsl"
    secret.write_text(
        template(
            f'<rdf:RDF><rdf:Description rdf:about="{URL}"><x:said>hidden words</x:said>'
            "</rdf:Description></rdf:RDF>"
        )
    )
    with WebServer() as web:
        web.replies["/sheet.xsl"] = Reply(secret.read_bytes())
        href = address.format(uri=secret.as_uri(), path=secret, port=web.origin.rpartition(":")[2])
        head = HEAD.replace('<xsl:param name="url"/>', f'<xsl:{word} href="{href}"/>')
        found = made(f"{head}</xsl:stylesheet>")
        assert web.requests == []
    assert "hidden words" not in found.triples
    assert "stands alone" in " ".join(found.notes)


@pytest.mark.parametrize("name", ["xslt", "rdfa"])
def test_the_children_close_the_network_before_they_read(name: str) -> None:
    code = f"""
import os, socket
from lxml import etree
taken = socket.socket
def tried(*_, **__):
    try:
        taken()
    except OSError as error:
        print(type(error).__name__)
    raise ValueError
import crawler.pipeline.transform.{name}_child as program
from crawler.isolation.fork_server import PROGRAMS
etree.fromstring = tried
program.text_of = tried
body, body_end = os.pipe()
os.close(body_end)
PROGRAMS["{name}"].run({{"url": "http://x/", "html": True, "sheet": 0}}, [body, os.pipe()[1]])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "PermissionError\n", done.stderr


@pytest.mark.parametrize(
    "content",
    [
        # Work without end, recursion without end, output without end, nonsense.
        template(
            "<xsl:for-each select='//*'><xsl:for-each select='//*'><xsl:for-each select='//*'>"
            "<xsl:value-of select='count(//*)'/></xsl:for-each></xsl:for-each></xsl:for-each>"
        ),
        template('<xsl:call-template name="again"/>')[:-17]
        + '<xsl:template name="again"><xsl:call-template name="again"/></xsl:template></xsl:stylesheet>',
        template("<rdf:RDF><xsl:for-each select='//*'><xsl:copy-of select='//*'/></xsl:for-each></rdf:RDF>"),
        "this is no stylesheet",
        template("<rdf:RDF><rdf:Description rdf:about='http://a b/'><x:p/></rdf:Description></rdf:RDF>"),
    ],
    ids=["loops", "recursion", "output", "no stylesheet", "no RDF"],
)
def test_what_goes_wrong_is_a_note_within_its_limits(content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "CPU_SECONDS", 1)
    monkeypatch.setattr(children, "WALL_SECONDS", 4.0)
    page = PAGE.replace(b"</body>", b"<p>x</p>" * 5_000 + b"</body>")
    began = time.monotonic()
    found = made(content, page)
    assert time.monotonic() - began < 60
    assert OURS in found.triples
    assert [note for note in found.notes if note.startswith("the stylesheet theirs was skipped: ")]


@pytest.mark.django_db
def test_those_that_are_on_go_with_the_work() -> None:
    row = transformed("")
    Document.objects.update(state="detected")
    Stylesheet.objects.create(name="on", content=TITLE, types=["html"])
    Stylesheet.objects.create(name="off", content=TITLE, enabled=False)
    (batch,) = work("transform", [row])
    assert batch.sheets == (Sheet("on", TITLE, ("html",)),)
    (heads,) = work("detect", [row])
    assert heads.sheets == ()


@pytest.mark.django_db
def test_staff_gives_them_and_mistakes_are_named(client: Client) -> None:
    reader, staff = make_token(make_user()), make_token(make_user(staff=True))
    given = {"name": "n", "content": TITLE, "types": ["html"]}

    def post(token: str, **changes: object) -> int:
        return client.post(
            "/api/stylesheets/",
            given | changes,
            content_type="application/json",
            headers={"Authorization": token},
        ).status_code

    assert post(reader) == 403
    assert post(staff, content="words") == 400
    assert post(staff, pattern="(") == 400
    assert post(staff) == 201
    with pytest.raises(ValidationError, match="no XSLT"):
        Stylesheet(name="x", content="words").full_clean()
    client.force_login(make_user(staff=True, is_superuser=True))
    assert client.get("/admin/pipeline/stylesheet/").status_code == 200


RDFA = b"""<html><head><title>T</title></head>
<body vocab="https://schema.org/" typeof="Person" resource="#me">
<span property="name">Ann</span><a property="url" href="/x">x</a></body></html>"""


def test_rdfa_is_read_where_it_is_asked_for() -> None:
    page = Given(URL, types.HTML, RDFA)
    assert "schema.org" not in transform(page).triples
    lines = transform(page, rdfa=True).triples.split("\n")
    assert f'<{URL}#me> <http://schema.org/name> "Ann" .' in lines
    assert f"<{URL}#me> <http://schema.org/url> <http://site.example/x> ." in lines
    assert OURS in lines


def test_pages_without_rdfa_start_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdfa, "run_child", None)
    plain = PAGE.replace(b"<h1>", b'<h1 property="og:title">')
    assert transform(Given(URL, types.HTML, plain), rdfa=True).notes == ()


def test_rdfa_that_takes_too_long_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "CPU_SECONDS", 1)
    many = RDFA.replace(b"</body>", b"<p property='name'>x" * 50_000 + b"</body>")
    found = transform(Given(URL, types.HTML, many), rdfa=True)
    assert OURS in found.triples
    assert any(note.startswith("RDFa was skipped") for note in found.notes)


def test_xml_of_no_known_kind_is_theirs_to_read() -> None:
    recipe = b"<recipe><name>Soup</name></recipe>"
    found = made(TITLE, recipe, types.XML)
    assert (found.triples, found.transformer) == (THEIRS, f"others@{VERSION}")
    for options, content in (({"types": ("html",)}, TITLE), ({}, "no stylesheet")):
        with pytest.raises(ReadingError, match="unsupported-type"):
            made(content, recipe, types.XML, **options)
    with pytest.raises(ReadingError, match="unsupported-type"):
        transform(Given(URL, types.XML, recipe))
