"""A crawl as a WARC file: all that was asked and answered, read back by the standard reader."""

from __future__ import annotations

import base64
import gzip
import hashlib
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.fetching.http.transfer import MAX_ERROR_BYTES
from crawler.frontier.crawls import begin
from crawler.frontier.models import Body, Crawl, CrawlUrl
from crawler.frontier.warc import warc_chunks
from crawler.inline import work_off
from tests.crawler.fetching.conftest import Exchange, Serve, Server, answer, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("terminal_on_loopback")]
__all__ = ["serve"]


@dataclass
class Record:
    """A record as the reader gives it."""

    kind: str
    url: str
    about: dict[str, str]
    status: str
    headers: dict[str, str]
    content: bytes


def read(crawl: Crawl) -> dict[str, list[Record]]:
    """Records by URL. The reader decompresses every one, follows its lengths and checks its digests."""
    found: dict[str, list[Record]] = {}
    for one in ArchiveIterator(BytesIO(b"".join(warc_chunks(crawl))), check_digests="raise"):
        http = one.http_headers
        record = Record(
            one.rec_type,
            one.rec_headers.get_header("WARC-Target-URI") or "",
            dict(one.rec_headers.headers),
            f"{http.protocol} {http.statusline}".strip() if http else "",
            dict(http.headers) if http else {},
            one.content_stream().read(),
        )
        found.setdefault(record.url, []).append(record)
    return found


PATHS = [
    "moved",
    "missing",
    "gzipped",
    "big",
    "twin",
    "odd",
    "private",
    "picture",
    "nowhere",
    "kept-out",
    "reset",
]
LINKS = "".join(f"<a href=/{path}>{path}</a>" for path in PATHS) + "<a href=http://127.0.0.1:9/>refused</a>"
HTML = {"Content-Type": "text/html"}
REPLIES = {
    "/robots.txt": answer(b"User-agent: *\nDisallow: /kept-out\n"),
    "/": answer(LINKS.encode(), **HTML),
    "/moved": answer(b"It is at /same.", "301 Moved for good", Location="/same", **HTML),
    "/same": answer(b"<p>the same words", **HTML),
    "/twin": answer(b"<p>the same words", **HTML),
    "/missing": answer(b"<p>There is no such page.", "404 Nothing here", **HTML),
    "/gzipped": answer(gzip.compress(b"broken" * 100), "410 Gone", Content_Encoding="gzip", **HTML),
    "/big": answer(b"e" * 100_000, "403 Forbidden", **HTML),
    "/odd": b"HTTP/1.0 200 Tr\xe8s bien\r\nContent-Type: text/html\r\nX-Odd: caf\xe9 \xff\x01\x00!\r\n"
    b"X-Fold: one\r\n   two\r\nX-Odd: again\r\nContent-Length: 4\r\n\r\n<p>o",
    "/private": answer(b"<meta name=robots content=noindex><p>not for others", **HTML),
    "/picture": answer(b"\x89PNG", **{"Content-Type": "image/png"}),
    "/nowhere": answer(b"", "302 Found", Location="http://[::1"),
}


def script(exchange: Exchange) -> None:
    if exchange.request.target == "/reset":
        exchange.reset()
    else:
        exchange.send(REPLIES[exchange.request.target])


@pytest.fixture
def site(serve: Serve) -> Server:
    return serve(script)


@pytest.fixture
def records(site: Server) -> dict[str, list[Record]]:
    """Of a crawl of all of it, by path."""
    crawl = begin(Crawl(seeds=[site.url("/")]))
    work_off()
    return {url.removeprefix(site.url("")): found for url, found in read(crawl).items()}


def answered(records: dict[str, list[Record]], path: str) -> Record:
    request, response = records[path]
    assert request.kind == "request"
    assert response.about["WARC-Date"] == request.about["WARC-Date"]
    return response


def test_every_url_that_was_tried_is_there_with_what_was_sent(
    records: dict[str, list[Record]], site: Server
) -> None:
    assert [record.kind for record in records[""]] == ["warcinfo"]
    for path in set(REPLIES) - {"/robots.txt"}:
        (sent,) = [request.raw for request in site.requests if request.target == path]
        request = records[path][0]
        assert request.status == f"GET {path} HTTP/1.1"
        lines = [request.status, *(f"{name}: {value}" for name, value in request.headers.items())]
        assert "\r\n".join(lines).encode() + b"\r\n\r\n" == sent
    tried = CrawlUrl.objects.filter(fetched__isnull=False).count()
    assert len(records) - 1 == tried == len(REPLIES) + 2


def test_redirects_and_errors_have_their_status_headers_and_words(records: dict[str, list[Record]]) -> None:
    moved = answered(records, "/moved")
    assert (moved.kind, moved.status) == ("response", "HTTP/1.1 301 Moved for good")
    assert (moved.headers["Location"], moved.content) == ("/same", b"It is at /same.")
    missing = answered(records, "/missing")
    assert (missing.status, missing.content) == ("HTTP/1.1 404 Nothing here", b"<p>There is no such page.")
    gone = answered(records, "/gzipped")
    assert (gone.status, gone.content) == ("HTTP/1.1 410 Gone", b"broken" * 100)
    assert gone.headers["X-Archive-Orig-Content-Encoding"] == "gzip"
    nowhere = answered(records, "/nowhere")
    assert (nowhere.status, nowhere.headers["Location"]) == ("HTTP/1.1 302 Found", "http://[::1")
    big = answered(records, "/big")
    assert (big.status, len(big.content)) == ("HTTP/1.1 403 Forbidden", MAX_ERROR_BYTES)
    assert big.about["WARC-Truncated"] == "length"


def test_the_same_content_is_there_once(records: dict[str, list[Record]]) -> None:
    twins = [answered(records, path) for path in ("/same", "/twin")]
    first, second = sorted(twins, key=lambda record: record.kind)
    assert (first.kind, first.content) == ("response", b"<p>the same words")
    assert (second.kind, second.content, second.status) == ("revisit", b"", "HTTP/1.1 200 OK")
    assert second.about["WARC-Refers-To-Target-URI"] == first.url
    assert second.about["WARC-Refers-To-Date"] == first.about["WARC-Date"]
    digest = base64.b32encode(hashlib.sha1(b"<p>the same words").digest()).decode()
    for record in twins:
        assert record.about["WARC-Payload-Digest"] == f"sha1:{digest}"


def test_odd_bytes_are_those_that_came(site: Server) -> None:
    """But for control characters, which no page could show, and folds, which mean a blank."""
    crawl = begin(Crawl(seeds=[site.url("/odd")]))
    work_off()
    raw = gzip.decompress(b"".join(warc_chunks(crawl)))
    assert b"\r\n\r\nHTTP/1.0 200 Tr\xe8s bien\r\n" in raw
    assert b"X-Odd: caf\xe9 \xff!\r\n" in raw
    assert b"X-Odd: again\r\n" in raw
    assert b"X-Fold: one two\r\n" in raw
    assert read(crawl)[site.url("/odd")][1].content == b"<p>o"


def test_what_had_no_answer_says_why(records: dict[str, list[Record]]) -> None:
    (refused,) = records["http://127.0.0.1:9/"]
    assert (refused.kind, refused.about["Content-Type"]) == ("metadata", "application/warc-fields")
    assert b"failure: robots\r\n" in refused.content
    assert b"robots.txt cannot be read" in refused.content
    (reset,) = records["/reset"]
    assert b"failure: reset\r\n" in reset.content
    (forbidden,) = records["/kept-out"]
    assert b"failure: robots\r\n" in forbidden.content


def test_of_what_asks_for_no_copy_there_is_none(records: dict[str, list[Record]]) -> None:
    for path in ("/private", "/picture"):
        record = answered(records, path)
        assert (record.status, record.content) == ("HTTP/1.1 200 OK", b"")
        assert record.about["WARC-Truncated"] == "unspecified"


def test_what_an_older_version_stored_is_there_as_far_as_it_is_known(site: Server) -> None:
    crawl = begin(Crawl(seeds=[site.url("/same")]))
    work_off()
    row = crawl.urls.get()
    row.headers = [[name, value] for name, value in row.headers if not name.startswith(":")]
    row.save()
    (response,) = read(crawl)[row.url]
    assert (response.status, response.content) == ("HTTP/1.1 200 OK", b"<p>the same words")
    crawl.urls.update(status=301, state="moved", headers=[], body=None, size=0)
    (metadata,) = read(crawl)[row.url]
    assert (metadata.kind, metadata.content) == ("metadata", b"failure: status 301\r\n")


@pytest.mark.parametrize(
    "headers",
    [
        [["", ""]],
        [["A\nB", "c\r\nd: e"]],
        [["X", "\u20ac"]],
        [[1, None]],
        [[":request", "GET"], [":status", "x"]],
    ],
)
def test_stored_headers_cannot_break_the_file(site: Server, headers: Any) -> None:
    crawl = begin(Crawl(seeds=[site.url("/same")]))
    work_off()
    crawl.urls.update(headers=headers)
    response = read(crawl)[site.url("/same")][-1]
    assert (response.kind, response.content) == ("response", b"<p>the same words")
    assert "d" not in response.headers


def test_a_stored_answer_that_is_damaged_costs_itself_alone(site: Server) -> None:
    crawl = begin(Crawl(seeds=[site.url("/same"), site.url("/odd")]))
    work_off()
    Body.objects.filter(pk=crawl.urls.get(url=site.url("/odd")).body_id).update(content=b"damaged")
    found = read(crawl)
    assert found[site.url("/odd")][-1].content == b""
    assert found[site.url("/same")][-1].content == b"<p>the same words"
