"""A crawl as a WARC file (ISO 28500), which archives' tools read: what was asked, and what came back.

Each URL that was tried has one of: `response` (pages, redirects, errors; `revisit` where an earlier record
has the same content) with the `request` before it, or `metadata` where there was no answer, with the reason.
"""

from __future__ import annotations

import base64
import hashlib
import io
import logging
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC
from http import HTTPStatus

from django.db.models import Count
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.frontier.models import Crawl, CrawlUrl
from crawler.http.transfer import MAX_ERROR_BYTES
from crawler.messages import MOST_BYTES
from crawler.reading.documents import REQUEST, STATUS
from crawler.reading.inflate import inflated

log = logging.getLogger(__name__)

ROWS = 200
MEDIA_TYPE = "application/warc"
ORIGINAL = "X-Archive-Orig-"
"""Before the names of headers that described the bytes on the wire: a record has the body as unpacked."""
_OF_THE_WIRE = {"content-encoding", "transfer-encoding", "content-length"}


class _Head(StatusAndHeaders):  # type: ignore[misc]
    """A head whose bytes are those that came: the library would escape all that is not ASCII."""

    def to_ascii_bytes(self, filter_func: Callable[..., object] | None = None) -> bytes:
        return bytes(self.to_str(filter_func).encode("latin-1", "replace") + b"\r\n")


@dataclass(slots=True)
class _File:
    """The file that is being written, and where contents that come more than once came first."""

    buffer: io.BytesIO
    writer: WARCWriter
    repeated: set[uuid.UUID]
    first: dict[uuid.UUID, tuple[str, str]] = field(default_factory=dict)

    def write(self, url: CrawlUrl) -> None:
        """The records of one URL."""
        given = [(str(name), str(value)) for name, value in url.headers]
        said = {name: value for name, value in given if name in {REQUEST, STATUS}}
        headers = [(_line(name), _line(value)) for name, value in given if name and name not in said]
        date = "" if url.fetched is None else f"{url.fetched.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        if not url.status or not (headers or STATUS in said or url.body_id):
            self._metadata(url, date)
            return
        if " " in said.get(REQUEST, ""):
            self._request(url, date, said[REQUEST])
        self._answer(url, date, _status(url, said.get(STATUS, "")), headers)

    def _answer(
        self, url: CrawlUrl, date: str, line: tuple[str, str], headers: list[tuple[str, str]]
    ) -> None:
        body = _body(url)
        digest = "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
        same = ("content-length", str(len(body)))
        kept = [
            (ORIGINAL + name if name.lower() in _OF_THE_WIRE else name, value)
            for name, value in headers
            if (name.lower(), value.strip()) != same
        ]
        head = _Head(line[1], [*kept, ("Content-Length", str(len(body)))], protocol=line[0])
        about = {"WARC-Date": date}
        earlier = self.first.get(url.body_id) if url.body_id else None
        if earlier is not None:
            record = self.writer.create_revisit_record(
                url.url, digest, *earlier, http_headers=head, warc_headers_dict=about
            )
        else:
            if len(body) < (url.size or 0):
                about["WARC-Truncated"] = "unspecified"  # not kept, by a wish of its site's or of the crawl's
            elif url.state != CrawlUrl.State.CRAWLED and len(body) >= MAX_ERROR_BYTES:
                about["WARC-Truncated"] = "length"
            record = self.writer.create_warc_record(
                url.url, "response", payload=io.BytesIO(body), length=len(body), http_headers=head,
                warc_headers_dict=about,
            )  # fmt: skip
            if url.body_id in self.repeated:
                self.first[url.body_id] = (url.url, date)
        self.writer.write_record(record)

    def _request(self, url: CrawlUrl, date: str, text: str) -> None:
        first, *lines = text.split("\r\n")
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
        record = self.writer.create_warc_record(
            url.url,
            "request",
            http_headers=_Head(first, headers, is_http_request=True),
            warc_headers_dict={"WARC-Date": date},
        )
        self.writer.write_record(record)

    def _metadata(self, url: CrawlUrl, date: str) -> None:
        """Why there is no answer."""
        words = {"failure": url.failure or f"status {url.status}", "detail": url.detail}
        lines = [f"{name}: {' '.join(str(value).split())}\r\n" for name, value in words.items() if value]
        content = "".join(lines).encode("utf-8", "replace")
        record = self.writer.create_warc_record(
            url.url,
            "metadata",
            payload=io.BytesIO(content),
            length=len(content),
            warc_content_type="application/warc-fields",
            warc_headers_dict={"WARC-Date": date},
        )
        self.writer.write_record(record)

    def taken(self) -> bytes:
        """What has been written since the last time."""
        content = self.buffer.getvalue()
        self.buffer.seek(0)
        self.buffer.truncate()
        return content


def _body(url: CrawlUrl) -> bytes:
    """What is kept of an answer; nothing where that is damaged, or longer than any page that is read."""
    if url.body is None:
        return b""
    try:
        return inflated(bytes(url.body.content), MOST_BYTES)
    except ValueError as error:
        log.warning("the stored answer of %s is left out: %s", url.url, error)
        return b""


def warc_chunks(crawl: Crawl) -> Iterator[bytes]:
    """The file, gzipped record by record: a piece for what the file is, then one for each URL."""
    buffer = io.BytesIO()
    bodies = crawl.urls.filter(body__isnull=False).order_by().values_list("body").annotate(count=Count("id"))
    repeated = {key for key, _ in bodies.filter(count__gt=1)}
    file = _File(buffer, WARCWriter(buffer, gzip=True), repeated)
    file.writer.write_record(
        file.writer.create_warcinfo_record(
            f"crawl-{crawl.pk}.warc.gz", {"software": "Freshet", "format": "WARC/1.0"}
        )
    )
    yield file.taken()
    tried = crawl.urls.filter(fetched__isnull=False).select_related("body")
    for url in tried.order_by("id").iterator(chunk_size=ROWS):
        file.write(url)
        yield file.taken()


def _line(text: str) -> str:
    return " ".join(text.splitlines())


def _status(url: CrawlUrl, line: str) -> tuple[str, str]:
    """Protocol, and status with its reason as received; the standard's where that is not known."""
    protocol, _, rest = line.partition(" ")
    if protocol.startswith("HTTP/") and rest:
        return protocol, rest
    known = url.status in {status.value for status in HTTPStatus}
    return "HTTP/1.1", f"{url.status} {HTTPStatus(url.status).phrase if known else ''}"
