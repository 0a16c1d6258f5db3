"""Rows as a WARC file (ISO 28500, WARC/1.0) for archive tools, gzipped record by record.

Each row has its stored page as a `response` record, or its text as a `resource` record where no page is
stored, and a `metadata` record with its title, tags and notes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from articles.exporting.rows import ExportedList, ExportRow, one_line, web_address

_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+(?: *; *[\w-]+=\"?[\w.:+-]+\"?)*", re.ASCII)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _PlainHead(StatusAndHeaders):  # type: ignore[misc]
    """A head of an HTTP response whose values are ASCII already."""

    def to_ascii_bytes(self, filter_func: Callable[..., object] | None = None) -> bytes:
        return bytes(self.to_str(filter_func).encode("ascii", "replace") + b"\r\n")


def as_warc(rows: Iterable[ExportRow], about: ExportedList) -> Iterator[bytes]:
    """Yield the records: first one about the file, then those of each row."""
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=True)
    info = {"software": "Freshet", "format": "WARC/1.0", "description": one_line(about.title)}
    writer.write_record(writer.create_warcinfo_record("export.warc.gz", info))
    yield _taken(buffer)
    for row in rows:
        address = web_address(row.url) or f"urn:freshet:{row.key}"
        date = {"WARC-Date": _date(row.fetched or row.seen or row.updated)}
        if row.body:
            kind = row.content_type if _MEDIA_TYPE.fullmatch(row.content_type) else "text/html"
            fields = [("Content-Type", kind), ("Content-Length", str(len(row.body)))]
            record = writer.create_warc_record(
                address, "response", payload=io.BytesIO(row.body), length=len(row.body),
                http_headers=_PlainHead("200 OK", fields, protocol="HTTP/1.1"), warc_headers_dict=date,
            )  # fmt: skip
        else:
            content = (row.text or row.summary or row.title).encode("utf-8", "replace")
            record = writer.create_warc_record(
                address, "resource", payload=io.BytesIO(content), length=len(content),
                warc_content_type="text/plain; charset=utf-8", warc_headers_dict=date,
            )  # fmt: skip
        writer.write_record(record)
        content = _facts(row)
        record = writer.create_warc_record(
            address, "metadata", payload=io.BytesIO(content), length=len(content),
            warc_content_type="application/warc-fields",
            warc_headers_dict=date | {"WARC-Refers-To": record.rec_headers.get_header("WARC-Record-ID")},
        )  # fmt: skip
        writer.write_record(record)
        yield _taken(buffer)


def _facts(row: ExportRow) -> bytes:
    values = [
        ("title", row.title),
        *(("author", name) for name in row.authors),
        ("published", row.published.isoformat() if row.published else ""),
        ("site", row.site),
        *(("tag", tag) for tag in dict.fromkeys([*row.tags, *row.labels])),
        ("note", row.note),
        *(("highlight", each.quote) for each in row.highlights),
    ]
    lines = ((name, one_line(value)) for name, value in values)
    return "".join(f"{name}: {value}\r\n" for name, value in lines if value).encode("utf-8", "replace")


def _date(at: datetime | None) -> str:
    return (at or EPOCH).astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _taken(buffer: io.BytesIO) -> bytes:
    content = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return content
