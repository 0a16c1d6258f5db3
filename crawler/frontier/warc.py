"""A crawl as a WARC file (ISO 28500), which archives' tools read: one response record for each page."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from datetime import UTC

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.frontier.models import Crawl, CrawlUrl

ROWS = 200
MEDIA_TYPE = "application/warc"
# What described the bytes on the wire; the record has the body as it was unpacked.
_OF_THE_WIRE = {"content-encoding", "transfer-encoding", "content-length", "connection"}


def warc_chunks(crawl: Crawl) -> Iterator[bytes]:
    """The file piece by piece, gzipped record by record; pages without kept bodies are left out."""
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=True)
    writer.write_record(
        writer.create_warcinfo_record(
            f"crawl-{crawl.pk}.warc.gz", {"software": "Freshet", "format": "WARC/1.0"}
        )
    )
    yield _taken(buffer)
    pages = crawl.urls.filter(state=CrawlUrl.State.CRAWLED, body__isnull=False).select_related("body")
    for page in pages.order_by("id").iterator(chunk_size=ROWS):
        _write(writer, page)
        yield _taken(buffer)


def _write(writer: WARCWriter, page: CrawlUrl) -> None:
    if page.body is None or page.fetched is None:
        return
    body = zlib.decompress(page.body.content)
    headers = [(name, value) for name, value in page.headers if name.lower() not in _OF_THE_WIRE]
    headers.append(("Content-Length", str(len(body))))
    answer = StatusAndHeaders(f"{page.status} OK", headers, protocol="HTTP/1.1")
    record = writer.create_warc_record(
        page.url,
        "response",
        payload=io.BytesIO(body),
        http_headers=answer,
        warc_headers_dict={"WARC-Date": f"{page.fetched.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"},
    )
    writer.write_record(record)


def _taken(buffer: io.BytesIO) -> bytes:
    """What the buffer holds, which is empty afterwards."""
    content = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return content
