"""A crawl as a WARC file (ISO 28500) for archive tools: its requests and the responses.

Each tried URL has a `response` record (pages, redirects, errors; `revisit` where an earlier record has the
same content) after its `request`, or a `metadata` record with the reason if there was no response.
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

from crawler.fetching.http.transfer import MAX_ERROR_BYTES
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.messages import MAX_BYTES
from crawler.reading.documents import REQUEST, STATUS
from crawler.reading.inflate import inflated

log = logging.getLogger(__name__)

ROWS = 200
MEDIA_TYPE = "application/warc"
ORIGINAL = "X-Archive-Orig-"
"""Prefix for headers that describe the transferred bytes, because a record holds the unpacked body."""
_OF_THE_WIRE = {"content-encoding", "transfer-encoding", "content-length"}


class _Head(StatusAndHeaders):  # type: ignore[misc]
    """A record head that keeps the received bytes; the library would escape non-ASCII characters."""

    def to_ascii_bytes(self, filter_func: Callable[..., object] | None = None) -> bytes:
        return bytes(self.to_str(filter_func).encode("latin-1", "replace") + b"\r\n")


@dataclass(slots=True)
class _File:
    """The file being written, with the first URL and date of each body that several URLs have."""

    buffer: io.BytesIO
    writer: WARCWriter
    repeated: set[uuid.UUID]
    first: dict[uuid.UUID, tuple[str, str]] = field(default_factory=dict)

    def write(self, url: CrawlUrl) -> None:
        """Write the records of one URL."""
        headers = [(str(name), str(value)) for name, value in url.headers]
        special = {name: value for name, value in headers if name in {REQUEST, STATUS}}
        headers = [(_line(name), _line(value)) for name, value in headers if name and name not in special]
        date = "" if url.fetched is None else f"{url.fetched.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        if not url.status or not (headers or STATUS in special or url.body_id):
            self._metadata(url, date)
            return
        if " " in special.get(REQUEST, ""):
            self._request(url, date, special[REQUEST])
        self._answer(url, date, _status(url, special.get(STATUS, "")), headers)

    def _answer(
        self, url: CrawlUrl, date: str, line: tuple[str, str], headers: list[tuple[str, str]]
    ) -> None:
        body = _body(url)
        digest = "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
        same = ("content-length", str(len(body)))
        headers = [
            (ORIGINAL + name if name.lower() in _OF_THE_WIRE else name, value)
            for name, value in headers
            if (name.lower(), value.strip()) != same
        ]
        head = _Head(line[1], [*headers, ("Content-Length", str(len(body)))], protocol=line[0])
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
        """Write the reason why there is no response."""
        request = {"failure": url.failure or f"status {url.status}", "detail": url.detail}
        lines = [f"{name}: {' '.join(str(value).split())}\r\n" for name, value in request.items() if value]
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
        """Return the bytes written since the last call."""
        content = self.buffer.getvalue()
        self.buffer.seek(0)
        self.buffer.truncate()
        return content


def _body(url: CrawlUrl) -> bytes:
    """Return the stored body of a response. Returns b"" when it is damaged or too long."""
    if url.body is None:
        return b""
    try:
        return inflated(bytes(url.body.content), MAX_BYTES)
    except ValueError as error:
        log.warning("the stored answer of %s is left out: %s", url.url, error)
        return b""


def warc_chunks(crawl: Crawl) -> Iterator[bytes]:
    """Yield the file, gzipped record by record: a chunk for the header, then one for each tried URL."""
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
    """Return the protocol, and the status with its reason as received or else by the standard."""
    protocol, _, tail = line.partition(" ")
    if protocol.startswith("HTTP/") and tail:
        return protocol, tail
    is_known = url.status in {status.value for status in HTTPStatus}
    return "HTTP/1.1", f"{url.status} {HTTPStatus(url.status).phrase if is_known else ''}"
