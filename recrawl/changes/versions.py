"""The versions of a page: the present copy and those that changes have replaced, as text and as WARC."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.messages import MAX_BYTES
from crawler.reading.documents import REQUEST, STATUS
from crawler.reading.inflate import inflated
from crawler.reading.lines import unpacked
from recrawl.models import Version, WatchedPage

_OF_THE_WIRE = {"content-encoding", "transfer-encoding", "content-length"}


@dataclass(frozen=True, slots=True)
class PageVersion:
    """A version of a page: from when it was had until when it was replaced, None for the present one."""

    since: datetime
    until: datetime | None
    title: str
    lines: bytes

    @property
    def texts(self) -> list[str]:
        """Return the lines of its text."""
        return [line[1:] for line in unpacked(self.lines)]


def version_count(page: WatchedPage) -> int:
    """Return the number of versions, the present one included."""
    return page.versions.count() + (page.fetched is not None)


def version_at(page: WatchedPage, number: int) -> PageVersion | None:
    """Return a version by its number, 1 for the first. Returns None if there is none."""
    if number < 1:
        return None
    row = page.versions.order_by("id")[number - 1 : number].first()
    if row is not None:
        return PageVersion(row.since, row.until, row.title, bytes(row.lines))
    if page.fetched is None or number != version_count(page):
        return None
    last = page.versions.order_by("-id").values_list("until", flat=True).first()
    return PageVersion(last or page.fetched, None, page.title, bytes(page.lines))


def warc_chunks(page: WatchedPage) -> Iterator[bytes]:
    """Yield the versions of a page as a WARC file, gzipped record by record.

    A version whose bytes were kept is a `response`, another one a `conversion` to the text that was read.
    """
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=True)
    about = {"software": "Freshet", "format": "WARC/1.0"}
    writer.write_record(writer.create_warcinfo_record(f"page-{page.pk}.warc.gz", about))
    yield _taken(buffer)
    for row in page.versions.select_related("body").order_by("id").iterator(chunk_size=50):
        _write(writer, page.url, row, row.since)
        yield _taken(buffer)
    if page.fetched is not None:
        _write(writer, page.url, page, page.fetched)
        yield _taken(buffer)


def _write(writer: WARCWriter, url: str, row: Version | WatchedPage, at: datetime) -> None:
    about = {"WARC-Date": f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"}
    if row.body is None:
        text = "\n".join(line[1:] for line in unpacked(bytes(row.lines))).encode()
        record = writer.create_warc_record(
            url, "conversion", payload=io.BytesIO(text), length=len(text),
            warc_content_type="text/plain; charset=utf-8", warc_headers_dict=about,
        )  # fmt: skip
        writer.write_record(record)
        return
    body = inflated(bytes(row.body.content), MAX_BYTES)
    received = [(str(name), " ".join(str(value).split())) for name, value in row.headers]
    status = dict(received).get(STATUS, "").partition(" ")[2]
    headers = [
        (f"X-Archive-Orig-{name}" if name.lower() in _OF_THE_WIRE else name, value)
        for name, value in received
        if name not in {REQUEST, STATUS}
    ]
    head = StatusAndHeaders(
        status or f"{row.status} {HTTPStatus(row.status).phrase}",
        [*headers, ("Content-Length", str(len(body)))],
        protocol="HTTP/1.1",
    )
    record = writer.create_warc_record(
        url, "response", payload=io.BytesIO(body), length=len(body), http_headers=head,
        warc_headers_dict=about,
    )  # fmt: skip
    writer.write_record(record)


def _taken(buffer: io.BytesIO) -> bytes:
    content = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return content
