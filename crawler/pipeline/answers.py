"""Answers of the graph as people read them: a sentence, and a table with names in place of addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy, pgettext_lazy

from crawler.pipeline.names import Title, names_of, person_page
from crawler.pipeline.terms import Kind, Term
from crawler.web.templatetags.freshet import amount, host, language_name, size

HEADINGS: dict[str, Any] = {
    "name": gettext_lazy("Name"),
    "articles": gettext_lazy("Articles"),
    "feeds": gettext_lazy("Feeds"),
    "feed": gettext_lazy("Feed"),
    "article": gettext_lazy("Article"),
    "address": gettext_lazy("What"),
    "page": gettext_lazy("Page"),
    "pages": gettext_lazy("Pages"),
    "site": gettext_lazy("Site"),
    "sites": gettext_lazy("Sites"),
    "example": gettext_lazy("For example"),
    "from": pgettext_lazy("links from a site", "From"),
    "to": pgettext_lazy("links to a site", "To"),
    "links": gettext_lazy("Links"),
    "language": gettext_lazy("Language"),
    "documents": gettext_lazy("Documents"),
    "document": gettext_lazy("Document"),
    "hour": gettext_lazy("Hour"),
    "when": gettext_lazy("Read at"),
    "licence": gettext_lazy("Licence"),
    "files": gettext_lazy("Recordings"),
    "bytes": gettext_lazy("Size"),
    "title": gettext_lazy("Title"),
}
"""Headings of columns in words, by the names of variables."""

COUNTS = {"articles", "feeds", "pages", "sites", "links", "documents", "files", "bytes"}
TITLED = ("article", "page", "document", "feed")
"""Columns whose address gets the title that stands in the same row."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, the page that it leads to, and whether it is a number."""

    text: str
    url: str = ""
    is_number: bool = False
    value: int = 0
    lang: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """An answer: names of its columns, their headings, and rows of cells by the names."""

    names: list[str]
    rows: list[dict[str, Cell]]

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """The headings, and whether their columns hold numbers."""
        return [(str(HEADINGS.get(name, name)), name in COUNTS) for name in self.names]

    @property
    def lines(self) -> list[list[Cell]]:
        """The rows as lists, in the order of the columns."""
        return [[row[name] for name in self.names] for row in self.rows]


def table_of(names: Sequence[str], rows: Sequence[Sequence[Term | None]]) -> Table:
    """Return the table of an answer, with the names of all that it lists."""
    addresses = {term.value for row in rows for term in row if term is not None and term.kind == Kind.IRI}
    titles = names_of(addresses)
    titled = next((name for name in TITLED if name in names), None) if "title" in names else None
    columns = [name for name in names if not (titled and name == "title")]
    cells = []
    for row in rows:
        terms = dict(zip(names, row, strict=True))
        line = {name: _cell(name, terms[name], titles) for name in columns}
        title = terms.get("title")
        if titled and title is not None:
            line[titled] = Cell(title.value[:300], line[titled].url, lang=title.lang)
        cells.append(line)
    return Table(columns, cells)


def _cell(name: str, term: Term | None, titles: dict[str, Title]) -> Cell:
    if term is None or not term.value:
        return Cell("–")
    if name in COUNTS:
        number = int(term.value) if term.value.isdecimal() else 0
        return Cell(size(number) if name == "bytes" else amount(number), is_number=True, value=number)
    if name in {"site", "from", "to"}:
        return Cell(host(term.value), links_to_address(host(term.value)))
    if term.kind == Kind.IRI:
        return Cell(titles[term.value].title, titles[term.value].url)
    return _literal_cell(name, term)


def _literal_cell(name: str, term: Term) -> Cell:
    if name == "name":
        return Cell(term.value[:200], person_page(term.value))
    if name == "language":
        return Cell(language_name(term.value))
    if name == "hour" and term.value.isdecimal():
        return Cell(f"{int(term.value):02}:00", value=int(term.value))
    when = parse_datetime(term.value) if name == "when" else None
    return Cell(f"{when:%Y-%m-%d %H:%M}" if when else term.value[:300], lang=term.lang)


def links_to_address(word: str) -> str:
    """Return the address of the answer to which sites link to a word."""
    return f"{reverse('graph-question', args=['backlinks'])}?{urlencode({'word': word})}"


def sentence(slug: str, table: Table, word: str = "") -> str:
    """Return the answer to a question as a sentence. Returns "" without rows, and for unknown questions."""
    write = _SENTENCES.get(slug)
    return write(table.rows, word) if write is not None and table.rows else ""


def _most(column: str, count: str, words: Any) -> Callable[[list[dict[str, Cell]], str], str]:
    """Return a function that writes the sentence about the first row, which has the largest count."""

    def write(rows: list[dict[str, Cell]], _word: str) -> str:
        first = rows[0]
        values = {"name": first[column].text, "count": first[count].text, "number": first[count].value}
        return str(words % values)

    return write


def _backlinks(rows: list[dict[str, Cell]], word: str) -> str:
    if "site" not in rows[0]:
        return ""
    values = {"count": amount(len(rows)), "word": word, "site": rows[0]["site"].text}
    text = ngettext(
        "%(count)s site links to %(word)s: %(site)s.",
        "%(count)s sites link to %(word)s, most often %(site)s.",
        len(rows),
    )
    return text % values


def _author(rows: list[dict[str, Cell]], word: str) -> str:
    name = word or (rows[0]["name"].text if "name" in rows[0] else "")
    values = {"count": amount(len(rows)), "name": name}
    return (
        ngettext(
            "%(name)s has written %(count)s article.", "%(name)s has written %(count)s articles.", len(rows)
        )
        % values
    )


def _sites(rows: list[dict[str, Cell]], _word: str) -> str:
    values = {"from": rows[0]["from"].text, "to": rows[0]["to"].text, "count": rows[0]["links"].text}
    return (
        ngettext(
            "Most links lead from %(from)s to %(to)s: %(count)s.",
            "Most links lead from %(from)s to %(to)s: %(count)s.",
            rows[0]["links"].value,
        )
        % values
    )


def _hours(rows: list[dict[str, Cell]], _word: str) -> str:
    best = max(rows, key=lambda row: row["articles"].value)
    start = best["hour"].value
    values = {"start": f"{start:02}:00", "end": f"{(start + 1) % 24:02}:00"}
    return _("Most is published between %(start)s and %(end)s, Greenwich time.") % values


_SENTENCES: dict[str, Callable[[list[dict[str, Cell]], str], str]] = {
    "authors": _most(
        "name", "articles",
        ngettext_lazy(
            "%(name)s writes most: %(count)s article.",
            "%(name)s writes most: %(count)s articles.",
            "number",
        ),
    ),
    "author": _author,
    "linked": _most(
        "address", "sites",
        ngettext_lazy(
            "%(count)s site links to “%(name)s”, and no more to anything else.",
            "%(count)s sites link to “%(name)s”, more than to anything else.",
            "number",
        ),
    ),
    "backlinks": _backlinks,
    "sites": _sites,
    "colleagues": lambda rows, _word: ngettext(
        "%(count)s name is in more than one feed.", "%(count)s names are in more than one feed.", len(rows)
    ) % {"count": amount(len(rows))},
    "languages": _most(
        "language", "documents",
        ngettext_lazy(
            "Most is in %(name)s: %(count)s document.",
            "Most is in %(name)s: %(count)s documents.",
            "number",
        ),
    ),
    "hours": _hours,
    "week": lambda rows, _word: _("The newest is “%(title)s”.") % {"title": rows[0]["document"].text},
    "licences": _most(
        "licence", "pages",
        ngettext_lazy(
            "The most usual licence is “%(name)s”, on %(count)s page.",
            "The most usual licence is “%(name)s”, on %(count)s pages.",
            "number",
        ),
    ),
    "podcasts": _most(
        "feed", "files",
        ngettext_lazy(
            "“%(name)s” has most: %(count)s recording.",
            "“%(name)s” has most: %(count)s recordings.",
            "number",
        ),
    ),
    "unread": _most(
        "address", "pages",
        ngettext_lazy(
            "%(count)s page links to “%(name)s”, which has not been read.",
            "%(count)s pages link to “%(name)s”, which has not been read.",
            "number",
        ),
    ),
}  # fmt: skip
"""How the answer to each question is said, by the question's part of an address."""


def json_ld(names: Sequence[str], rows: Sequence[Sequence[Term | None]]) -> dict[str, Any]:
    """Return an answer as linked data: a node for each row, with the columns as its properties."""
    nodes = [
        {
            name: {"@id": term.value} if term.kind == Kind.IRI else term.value
            for name, term in zip(names, row, strict=True)
            if term is not None
        }
        for row in rows
    ]
    return {"@context": {"@vocab": "urn:freshet:answer:"}, "@graph": nodes}
