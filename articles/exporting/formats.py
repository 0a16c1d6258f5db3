"""Formats of exported lists: each writes rows one after the other, so that a file may be of any length.

CSV (RFC 4180), JSON Lines, JSON Feed 1.1, Markdown (CommonMark) and CSL JSON are here, BibTeX and RIS in
`citations`, WARC in `archive`. Imports neither Django nor the database.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from articles.exporting.archive import as_warc
from articles.exporting.citations import as_bibtex, as_ris
from articles.exporting.rows import ExportedList, ExportRow, clean_text, day_of, one_line, web_address
from crawler.text.cells import csv_row, guarded

CHUNK_BYTES = 32_768
MAX_CELL = 32_000
"""Characters of a cell of CSV: spreadsheets cut it at 32,767."""
COLUMNS = (
    "id", "title", "url", "authors", "site", "published", "updated", "saved", "language", "tags", "labels",
    "starred", "read", "note", "summary", "story", "doi", "image",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format: its name in addresses, how it is called, media type, ending of the file, and its writer.

    `needs` names the long parts that it shows: `text`, `html` or `page`, the stored page as it was received.
    """

    name: str
    label: str
    media_type: str
    ending: str
    write: Callable[[Iterable[ExportRow], ExportedList], Iterator[bytes]]
    needs: frozenset[str] = frozenset()


def as_csv(rows: Iterable[ExportRow], about: ExportedList) -> Iterator[bytes]:
    """Yield CSV in which no cell is a formula, without texts; with `for_people` after a byte order mark."""
    yield ("\ufeff" if about.for_people else "").encode() + csv_row(COLUMNS).encode()
    for row in rows:
        cells = (
            row.key, one_line(row.title), one_line(row.url), "; ".join(map(one_line, row.authors)),
            one_line(row.site), _iso(row.published), _iso(row.updated), _iso(row.saved), row.language,
            ", ".join(map(one_line, row.tags)), ", ".join(map(one_line, row.labels)),
            str(row.starred).lower(), str(row.read).lower(), clean_text(row.note),
            clean_text(row.summary), row.story, row.doi, one_line(row.image),
        )  # fmt: skip
        yield csv_row(guarded(cell[:MAX_CELL]) for cell in cells).encode()


def as_json_lines(rows: Iterable[ExportRow], about: ExportedList) -> Iterator[bytes]:
    """Yield one JSON object a line; every object has the same members."""
    for row in rows:
        yield _json(
            {
                "id": row.key,
                "url": row.url,
                "title": row.title,
                "authors": row.authors,
                "published": _iso(row.published) or None,
                "updated": _iso(row.updated) or None,
                "saved": _iso(row.saved) or None,
                "site": row.site,
                "feed": row.feed,
                "language": row.language,
                "tags": row.tags,
                "labels": row.labels,
                "starred": row.starred,
                "read": row.read,
                "note": row.note,
                "highlights": [_highlight(each) for each in row.highlights],
                "story": row.story,
                "doi": row.doi,
                "image": row.image,
                "summary": row.summary,
                "text": row.text,
                "html": row.html,
            }
        )
        yield b"\n"


def as_json_feed(rows: Iterable[ExportRow], about: ExportedList) -> Iterator[bytes]:
    """Yield a JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/); marks stand in `_freshet`."""
    head = {"version": "https://jsonfeed.org/version/1.1", "title": one_line(about.title) or "Freshet"}
    yield _json(head)[:-1] + b',"items":['
    for number, row in enumerate(rows):
        yield (b",\n" if number else b"\n") + _json(_feed_item(row))
    yield b"\n]}\n"


def _feed_item(row: ExportRow) -> dict[str, Any]:
    tags = list(dict.fromkeys([*row.tags, *row.labels]))
    item: dict[str, Any] = {"id": row.uid or row.url or row.key}
    members = {
        "url": web_address(row.url),
        "title": one_line(row.title),
        "content_html": row.html,
        "content_text": "" if row.html else row.text or row.summary,
        "summary": row.summary,
        "image": web_address(row.image),
        "date_published": _iso(row.published),
        "date_modified": _iso(row.updated),
        "authors": [{"name": one_line(name)} for name in row.authors],
        "tags": [one_line(tag) for tag in tags],
        "language": row.language,
    }
    item |= {name: value for name, value in members.items() if value}
    if "content_html" not in item:
        item.setdefault("content_text", "")  # one of both is needed
    extension: dict[str, Any] = {
        "starred": row.starred,
        "read": row.read,
        "labels": row.labels,
        "note": row.note,
        "highlights": [_highlight(each) for each in row.highlights],
        "site": row.site,
    }
    return item | {"_freshet": {name: value for name, value in extension.items() if value}}


def as_markdown(rows: Iterable[ExportRow], about: ExportedList) -> Iterator[bytes]:
    """Yield Markdown: a heading for the list, for each row its title as a link, facts, notes and text."""
    if about.title:
        yield f"# {_escaped(one_line(about.title))}\n\n".encode()
    for row in rows:
        address = _link(row.url)
        title = _escaped(one_line(row.title) or row.url or "—")
        parts = [f"## [{title}](<{address}>)" if address else f"## {title}"]
        facts = [", ".join(map(one_line, row.authors)), one_line(row.site), day_of(row.published)]
        line = " · ".join(_escaped(fact) for fact in facts if fact)
        parts.append(f"*{line}*" if line else "")
        tags = dict.fromkeys([*row.tags, *row.labels])
        parts.append(", ".join(f"\\#{_escaped(one_line(tag))}" for tag in tags))
        parts.append(_paragraphs(row.note))
        for each in row.highlights:
            quote = _paragraphs(each.quote).replace("\n", "\n> ")
            parts += [f"> {quote}", _paragraphs(each.note)]
        parts.append(_paragraphs(row.text or row.summary))
        yield ("\n\n".join(part for part in parts if part) + "\n\n").encode()


def as_csl(rows: Iterable[ExportRow], about: ExportedList) -> Iterator[bytes]:
    """Yield an array of CSL JSON items (https://citeproc-js.readthedocs.io/en/latest/csl-json/markup.html)."""
    yield b"["
    for number, row in enumerate(rows):
        item: dict[str, Any] = {"id": row.uid or row.key, "type": _CSL_TYPES.get(row.kind, "webpage")}
        members: dict[str, Any] = {
            "title": one_line(row.title),
            "author": [{"literal": one_line(name)} for name in row.authors],
            "container-title": one_line(row.site),
            "issued": _date_parts(row.published),
            "accessed": _date_parts(row.seen),
            "URL": web_address(row.url),
            "DOI": row.doi,
            "language": row.language,
            "abstract": one_line(row.summary),
            "keyword": ", ".join(map(one_line, dict.fromkeys([*row.tags, *row.labels]))),
            "note": one_line(row.note),
        }
        item |= {name: value for name, value in members.items() if value}
        yield (b",\n" if number else b"\n") + _json(item)
    yield b"\n]\n"


_CSL_TYPES = {"news": "article-newspaper", "saved": "webpage", "change": "webpage"}


def _date_parts(at: Any) -> dict[str, list[list[int]]] | None:
    return {"date-parts": [[at.year, at.month, at.day]]} if at else None


FORMATS = {
    each.name: each
    for each in (
        ExportFormat("csv", "CSV", "text/csv; charset=utf-8", "csv", as_csv),
        ExportFormat(
            "jsonl", "JSON Lines", "application/jsonl", "jsonl", as_json_lines, frozenset({"text", "html"})
        ),
        ExportFormat(
            "json-feed", "JSON Feed", "application/feed+json", "json", as_json_feed,
            frozenset({"text", "html"}),
        ),
        ExportFormat(
            "markdown", "Markdown", "text/markdown; charset=utf-8", "md", as_markdown, frozenset({"text"})
        ),
        ExportFormat("warc", "WARC", "application/warc", "warc.gz", as_warc, frozenset({"text", "page"})),
        ExportFormat("bibtex", "BibTeX", "application/x-bibtex; charset=utf-8", "bib", as_bibtex),
        ExportFormat("ris", "RIS", "application/x-research-info-systems; charset=utf-8", "ris", as_ris),
        ExportFormat("csl", "CSL JSON", "application/vnd.citationstyles.csl+json", "csl.json", as_csl),
    )
}  # fmt: skip


def in_chunks(parts: Iterable[bytes], size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Join parts into chunks of at least `size` bytes, for servers write each chunk by itself."""
    waiting: list[bytes] = []
    length = 0
    for part in parts:
        waiting.append(part)
        length += len(part)
        if length >= size:
            yield b"".join(waiting)
            waiting, length = [], 0
    if waiting:
        yield b"".join(waiting)


def _iso(at: Any) -> str:
    return at.isoformat() if at else ""


def _highlight(each: Any) -> dict[str, Any]:
    return {"quote": each.quote, "note": each.note, "color": each.color, "tags": each.tags}


_LINE_ENDS = (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("\x85", "\\u0085"))
"""Characters that some programs take for the end of a line within a string."""


def _json(value: dict[str, Any]) -> bytes:
    text = orjson.dumps(value).decode()
    for character, escape in _LINE_ENDS:
        if character in text:
            text = text.replace(character, escape)
    return text.encode()


_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")
_BLOCK = re.compile(r"^([-+=]|\d{1,9}(?=[.)]))")


def _escaped(text: str) -> str:
    """Return a line of text in which nothing is markup."""
    marked = _MARKUP.sub(r"\\\1", text)
    start = _BLOCK.match(marked)
    if start is None:
        return marked
    at = start.end() if marked[0].isdigit() else 0
    return f"{marked[:at]}\\{marked[at:]}"


def _paragraphs(text: str) -> str:
    lines = (one_line(line) for line in clean_text(text).splitlines())
    return "\n\n".join(_escaped(line) for line in lines if line)


def _link(url: str) -> str:
    """Return a web address that may stand between angle brackets, "" for any other."""
    return web_address(url).replace("\\", "%5C")
