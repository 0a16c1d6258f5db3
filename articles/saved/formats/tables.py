"""Exports as tables (CSV): Pocket, Instapaper, Wallabag, Readwise, Raindrop, Omnivore, Matter. Pure.

Columns are found by their names, in any order. Forms: getpocket.com/export of 2024 and 2025, Instapaper's,
wallabag's EntriesExport.php, the exports of read.readwise.io and readwise.io, help.raindrop.io/import,
docs.omnivore.app/using/importing.html.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from articles.saved.formats.pages import EntryCollection, FiledPage, NotSavedPages, SavedFile, SavedHighlight
from articles.saved.formats.values import TIMES, Times, flag, plain, raw, tags_of

Row = Mapping[str, str]
MAX_CELL = 256 * 1024 * 1024
_DELIMITERS = ",;\t|"
_WEB = re.compile(r"\s*https?://", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*https?://\S+\s*", re.IGNORECASE)
MAX_ROW_LINES = 5_000
_REREAD, MIN_REREAD = 10, 50_000
"""Lines that are read again behind broken rows: on average of each line, and at least."""
_INSTAPAPER_STATES = {"unread", "archive", "starred"}
_NO_FOLDER = {"", "unsorted"}

csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))


def pocket(row: Row, times: Times) -> FiledPage:
    """Read a row of Pocket: title,url,time_added,[cursor,]tags,status, with tags between "|"."""
    return _page(
        row, times, saved="time_added", separator="|", is_read=row["status"].lower() in ("archive", "read")
    )


def instapaper(row: Row, times: Times) -> FiledPage:
    """Read a row of Instapaper, whose folder is a state or a tag, and whose tags are a JSON list."""
    folder = row["folder"]
    state = folder.lower()
    tags = () if state in _INSTAPAPER_STATES else (folder,)
    selection = plain(row["selection"])
    highlights = (SavedHighlight(selection),) if selection else ()
    page = _page(row, times, saved="timestamp", is_read=state == "archive", tags=tags, highlights=highlights)
    return replace(page, is_starred=state == "starred")


def wallabag(row: Row, times: Times) -> FiledPage:
    """Read a row of Wallabag's CSV, which tells neither read nor starred."""
    return _page(row, times, saved="creation date", html=row["content"], language=row["language"])


def reader(row: Row, times: Times) -> FiledPage:
    """Read a document of Readwise Reader. Tags are a Python list."""
    progress = raw(row["reading progress"]).rstrip("%")
    is_read = row["location"].lower() == "archive" or progress in ("1", "1.0", "100")
    return _page(
        row, times, saved="saved date", tag_column="document tags", note="document note", is_read=is_read
    )


def readwise(row: Row, times: Times) -> FiledPage:
    """Read a highlight of Readwise, as a page with one highlight."""
    url = next(filter(None, (row[name] for name in ("source url", "url", "book url", "document url"))), "")
    highlight = SavedHighlight(
        quote=row["highlight"].strip(),
        note=row["note"].strip(),
        color=row["color"].strip(),
        tags=tuple(filter(None, tags_of(row["tags"]))),
        made=times.read(row["highlighted at"]),
    )
    title = plain(row["book title"] or row["title"])
    return FiledPage(
        url, title, tags_of(row["document tags"]), highlights=(highlight,) if highlight.quote else ()
    )


def raindrop(row: Row, times: Times) -> FiledPage:
    """Read a row of Raindrop, whose folder is a path. The excerpt is the page's own and left out."""
    folders = [] if row["folder"].lower() in _NO_FOLDER else row["folder"].split("/")
    page = _page(row, times, saved="created", note="note", tags=folders, highlights=_raindrop_highlights(row))
    return replace(page, is_starred=flag(row["favorite"]))


def omnivore(row: Row, times: Times) -> FiledPage:
    """Read a row of the table that Omnivore takes: url,state,labels,saved_at."""
    return _page(
        row, times, saved="saved_at", tag_column="labels", is_read=row["state"].lower() == "archived"
    )


def matter(row: Row, times: Times) -> FiledPage:
    """Read a row of Matter, with tags between ";"."""
    is_read = flag(row["read"]) or row["in queue"].lower() == "false"
    page = _page(row, times, saved="last interaction date", separator=";", is_read=is_read)
    return replace(page, is_starred=flag(row["favorited"]))


def plain_table(row: Row, times: Times) -> FiledPage:
    """Read a row of any table with addresses, by columns of the usual names."""
    saved = next((name for name in TIMES if row[name]), "created")
    tags = () if row["folder"].lower() in _NO_FOLDER else row["folder"].split("/")
    return _page(row, times, saved=saved, note="note", tags=tags)


@dataclass(frozen=True, slots=True)
class TableForm:
    """A program's table, known by columns that it must have."""

    program: str
    columns: frozenset[str]
    read: Callable[[Row, Times], FiledPage]


FORMS = (
    TableForm("Readwise", frozenset({"highlight", "book title"}), readwise),
    TableForm("Readwise Reader", frozenset({"url", "document tags", "saved date"}), reader),
    TableForm("Pocket", frozenset({"url", "time_added"}), pocket),
    TableForm("Instapaper", frozenset({"url", "selection", "folder"}), instapaper),
    TableForm("Wallabag", frozenset({"url", "content", "mime type"}), wallabag),
    TableForm("Raindrop", frozenset({"url", "excerpt", "folder"}), raindrop),
    TableForm("Raindrop", frozenset({"url", "folder", "created"}), raindrop),
    TableForm("Matter", frozenset({"url", "in queue", "favorited"}), matter),
    TableForm("Omnivore", frozenset({"url", "state", "labels"}), omnivore),
    TableForm("CSV", frozenset({"url"}), plain_table),
)


class _Cells(dict[str, str]):
    """A row's cells by column. A column that the file lacks is empty."""

    def __missing__(self, key: str) -> str:
        return ""


def read_table(text: str) -> SavedFile:
    """Read a table of saved pages. Raises NotSavedPages when no program has columns of these names."""
    lines = list(io.StringIO(text, newline=""))
    first = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    if first < len(lines) and re.fullmatch(r"sep=.\s*", lines[first]):
        first += 1
    head = lines[first] if first < len(lines) else ""
    delimiter = max(_DELIMITERS, key=head.count)
    header = [
        name.strip().strip("\ufeff").lower() for name in next(csv.reader([head], delimiter=delimiter), [])
    ]
    form = next((form for form in FORMS if form.columns <= set(header)), None)
    if form is None and lines and all(_ADDRESS.fullmatch(line) for line in lines if line.strip()):
        return _addresses(lines)
    if form is None:
        raise NotSavedPages("This file is not a table with a column of addresses, and of no known program.")
    collection, times = EntryCollection(form.program), Times()
    for number, cells in _rows(lines, first + 1, delimiter, header, collection):
        row = _Cells(zip(header, _realigned(cells, header), strict=False))
        if form.read is reader and row["location"].lower() == "feed":
            collection.refuse(number, row["url"], "The article came from a feed and was not saved.")
            continue
        collection.add(form.read(row, times), number)
    return collection.file()


def _addresses(lines: Sequence[str]) -> SavedFile:
    """Read a list of nothing but addresses, one a line."""
    collection = EntryCollection("list")
    for number, line in enumerate(lines, 1):
        if line.strip():
            collection.add(FiledPage(line), number)
    return collection.file()


def _rows(
    lines: Sequence[str], first: int, delimiter: str, header: Sequence[str], collection: EntryCollection
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of its line, from 1.

    A quotation mark without end makes a row of several lines, with too few or many cells or with whole rows
    inside. Its first line is then a row of its own, or a problem, and reading goes on with the next line.
    After many of them each line is a row.
    """
    width = len(header)
    url = header.index("url") if "url" in header else -1

    def whole(line: str) -> list[str] | None:
        """Return the cells of a line that is a row if its quotation marks are left out."""
        cells = line.replace('"', "").rstrip("\r\n").split(delimiter)
        return cells if url >= 0 and len(cells) == width and _WEB.match(cells[url]) else None

    position, allowance = first, MIN_REREAD + _REREAD * len(lines)
    while position < len(lines):
        longest = MAX_ROW_LINES if allowance > 0 else 1
        cells, spanned = _row(lines, position, delimiter, longest)
        alone = whole(lines[position]) if spanned > 1 else None
        if spanned > 1 and (len(cells) != width or (alone and whole(lines[position + 1]))):
            allowance -= spanned
            spanned = 1
            if alone:
                yield position + 1, alone
            else:
                collection.refuse(position + 1, lines[position], "The line has a quotation mark without end.")
        elif any(cell.strip() for cell in cells):
            yield position + 1, cells
        position += spanned


def _row(lines: Sequence[str], position: int, delimiter: str, longest: int) -> tuple[list[str], int]:
    """Read the row that begins at a line, and count its lines."""
    reader = csv.reader(_lines_from(lines, position, longest), delimiter=delimiter)
    cells = next(reader, [])
    return cells, max(1, reader.line_num)


def _lines_from(lines: Sequence[str], position: int, count: int) -> Iterator[str]:
    """Yield lines from a position on, without a walk to it."""
    for number in range(position, min(len(lines), position + count)):
        yield lines[number]


def _realigned(cells: list[str], header: Sequence[str]) -> list[str]:
    """Put a title together whose commas were not quoted, and that moved the address to the right."""
    surplus = len(cells) - len(header)
    if surplus <= 0 or "title" not in header or "url" not in header:
        return cells
    title, url = header.index("title"), header.index("url")
    if title > url or not _WEB.match(cells[url + surplus]):
        return cells
    whole = ",".join(cells[title : title + surplus + 1])
    return [*cells[:title], whole, *cells[title + surplus + 1 :]]


def _page(
    row: Row, times: Times, *, saved: str, separator: str = ",", tag_column: str = "tags", note: str = "note",
    tags: Sequence[str] = (), is_read: bool = False, html: str = "", language: str = "",
    highlights: tuple[SavedHighlight, ...] = (),
) -> FiledPage:  # fmt: skip
    return FiledPage(
        url=row["url"],
        title=plain(row["title"]),
        tags=(*tags, *tags_of(row[tag_column], separator)),
        note=plain(row[note]),
        saved=times.read(row[saved]),
        is_read=is_read,
        language=language,
        html=html,
        highlights=highlights,
    )


def _raindrop_highlights(row: Row) -> tuple[SavedHighlight, ...]:
    """Read "Highlight:...", "Note:..." blocks, or each block as a quotation."""
    highlights = []
    for block in re.split(r"\n\s*\n|(?m:^)(?=Highlight:)", row["highlights"].replace("\r\n", "\n")):
        quote, _, note = block.partition("\nNote:")
        quote = quote.removeprefix("Highlight:").strip()
        if quote:
            highlights.append(SavedHighlight(quote, note.strip()))
    return tuple(highlights)
