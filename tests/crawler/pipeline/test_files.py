"""Pictures and PDF files: what they say of themselves, damaged and hostile ones, and the whole way."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Any

import pypdf
import pytest
from PIL import Image

from crawler.frontier.crawls import begin
from crawler.frontier.models import Crawl
from crawler.pipeline.inline import run_crawl
from crawler.pipeline.models import Document
from crawler.pipeline.store import quads
from crawler.pipeline.terms import iri
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument, Transformed
from crawler.reading.errors import ReadingError
from tests.servers import Reply, WebServer

EXIF = "http://www.w3.org/2003/12/exif/ns#"


def photo(**tags: Any) -> bytes:
    """A JPEG with EXIF: the tags of the picture, `taken` and the place."""
    exif = Image.Exif()
    exif[0x010F], exif[0x0110], exif[0x013B] = "Harbour Optics", "H1", tags.get("artist", "Ann Ferry")
    exif.get_ifd(0x8769)[0x9003] = tags.get("taken", "2026:03:02 12:30:45")
    exif.get_ifd(0x8825).update({1: "S", 2: (33.0, 51.0, 36.0), 3: "E", 4: (151.0, 12.0, 0.0)})
    out = io.BytesIO()
    Image.new("RGB", (60, 40)).save(out, "JPEG", exif=exif)
    return out.getvalue()


def paper(**told: str) -> bytes:
    """A PDF file of two pages."""
    writer, out = pypdf.PdfWriter(), io.BytesIO()
    for _ in range(2):
        writer.add_blank_page(100, 100)
    writer.add_metadata({f"/{name}": value for name, value in told.items()})
    writer.write(out)
    return out.getvalue()


def read(body: bytes) -> Transformed:
    return transform(SourceDocument("http://x.example/file", "binary", body, "application/octet-stream"))


def test_a_photo_says_when_where_and_by_whom_it_was_taken() -> None:
    result = read(photo())
    assert result.transformer.startswith("files@")
    for word in (
        f'{EXIF}width> "60"', f'{EXIF}height> "40"', f'{EXIF}make> "Harbour Optics"', 'creator> "Ann Ferry"',
        'created> "2026-03-02T12:30:45"', 'wgs84_pos#lat> "-33.860000"', 'wgs84_pos#long> "151.200000"',
        'format> "image/jpeg"', "foaf/0.1/Image>",
    ):  # fmt: skip
        assert word in result.triples, word


def test_a_paper_says_its_title_and_its_pages() -> None:
    body = paper(
        Title="On tides\x00\n and  moorings", Author="B. Quay", CreationDate="D:20260302123045+01'00'"
    )
    text = read(body).triples
    assert 'dc/terms/title> "On tides and moorings"' in text
    assert 'created> "2026-03-02T12:30:45+01:00"' in text
    assert 'numberOfPages> "2"' in text


@pytest.mark.parametrize("taken", ["0000:00:00 00:00:00", "yesterday", "2026:13:45 99:99:99", ""])
def test_dates_that_are_none_are_left_out(taken: str) -> None:
    assert "created>" not in read(photo(taken=taken)).triples
    assert "created>" not in read(paper(Title="T", CreationDate=f"D:{taken}")).triples


@pytest.mark.parametrize(
    "body",
    [
        photo()[:200],
        paper()[:100],
        b"%PDF-1.7\n" + b"1 0 obj << /Length 1 0 R >>" * 1000,
        b"\x89PNG\r\n\x1a\n" + b"\0" * 99,
    ],
    ids=["half a photo", "half a paper", "a paper of nothing", "no picture"],
)
def test_a_damaged_file_is_named_and_ends_soon(body: bytes) -> None:
    began = time.monotonic()
    with pytest.raises(ReadingError, match="what it says of itself was skipped"):
        read(body)
    assert time.monotonic() - began < 60


def test_other_files_are_for_nobody() -> None:
    with pytest.raises(ReadingError, match="nothing makes a graph of binary"):
        read(b"PK\x03\x04" + b"\0" * 60)


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as web:
        links = b"<html><title>P</title><a href='/photo.jpg'>a</a><a href='/paper.pdf'>b</a></html>"
        web.replies |= {
            "/": Reply(links, headers={"Content-Type": "text/html"}),
            "/photo.jpg": Reply(photo(), headers={"Content-Type": "image/jpeg"}),
            "/paper.pdf": Reply(paper(Title="On tides"), headers={"Content-Type": "application/pdf"}),
        }
        yield web


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("terminal_on_loopback")
@pytest.mark.parametrize("is_on", [True, False])
def test_crawls_into_the_graph_take_them_where_it_is_wanted(
    site: WebServer, settings: Any, is_on: bool
) -> None:
    settings.PIPELINE_FILES = is_on
    crawl = begin(Crawl(seeds=[site.origin + "/"], into_graph=True))
    run_crawl(crawl, 4, lambda: None)
    done = Document.objects.filter(state="done").values_list("url", flat=True)
    assert sorted(url.rpartition("/")[2] for url in done) == (
        ["", "paper.pdf", "photo.jpg"] if is_on else [""]
    )
    title = quads(subject=iri(f"{site.origin}/paper.pdf"), predicate=iri("http://purl.org/dc/terms/title"))
    assert len(list(title)) == int(is_on)
