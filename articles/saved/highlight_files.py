"""Highlights as files: Markdown, JSON-LD of the W3C Web Annotation model, and CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from articles.saved.models import Highlight
from crawler.text.cells import csv_row, guarded

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
COLUMNS = (
    "quote", "note", "color", "tags", "article", "url", "author", "published", "created",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HighlightFormat:
    """A format of files of highlights: its name, media type, ending, and what writes it."""

    name: str
    media_type: str
    ending: str
    write: Callable[[Iterable[Highlight]], Iterator[str]]


def as_markdown(rows: Iterable[Highlight]) -> Iterator[str]:
    """Yield Markdown: an article's title with its address, then each quote with its note."""
    for _, group in groupby(rows, key=lambda row: row.article_id):
        for number, row in enumerate(group):
            if not number:
                title = _one_line(str(row.article))
                yield (
                    f"## [{_escaped(title)}](<{row.article.url}>)\n\n"
                    if row.article.url
                    else f"## {title}\n\n"
                )
            yield "".join(f"> {line}\n" for line in row.quote.splitlines() or [""])
            about = [f"{row.get_color_display()}, {row.created:%Y-%m-%d}", *(f"#{tag}" for tag in row.tags)]
            yield f"\n{row.note}\n" if row.note else ""
            yield f"\n*{' '.join(about)}*\n\n"


def as_json_ld(rows: Iterable[Highlight]) -> Iterator[str]:
    """Yield a JSON-LD array of Web Annotations."""
    yield "["
    for number, row in enumerate(rows):
        yield (",\n" if number else "\n") + json.dumps(annotation(row), ensure_ascii=False)
    yield "\n]\n"


def as_csv(rows: Iterable[Highlight]) -> Iterator[str]:
    """Yield CSV, in which no cell is a formula."""
    yield csv_row(COLUMNS)
    for row in rows:
        article = row.article
        cells = (
            row.quote, row.note, row.get_color_display(), ", ".join(row.tags), str(article), article.url,
            article.author, article.published.isoformat(), row.created.isoformat(),
        )  # fmt: skip
        yield csv_row(guarded(cell) for cell in cells)


def annotation(row: Highlight) -> dict[str, Any]:
    """Return a highlight as a Web Annotation (https://www.w3.org/TR/annotation-model/)."""
    bodies: list[dict[str, Any]] = [
        {"type": "TextualBody", "purpose": "tagging", "value": tag} for tag in row.tags
    ]
    if row.note:
        bodies.insert(
            0, {"type": "TextualBody", "purpose": "commenting", "value": row.note, "format": "text/plain"}
        )
    return {
        "@context": CONTEXT,
        "id": f"urn:freshet:highlight:{row.pk}",
        "type": "Annotation",
        "motivation": "commenting" if row.note else "highlighting",
        "created": row.created.isoformat(),
        "modified": row.changed.isoformat(),
        "body": bodies,
        "target": {
            "source": row.article.url,
            "title": str(row.article),
            "selector": [
                {"type": "TextQuoteSelector", "exact": row.quote, "prefix": row.before, "suffix": row.after},
                {"type": "TextPositionSelector", "start": row.start, "end": row.end},
            ],
            "styleClass": row.get_color_display(),
        },
    }


FORMATS = {
    each.name: each
    for each in (
        HighlightFormat("markdown", "text/markdown; charset=utf-8", "md", as_markdown),
        HighlightFormat("json-ld", "application/ld+json", "jsonld", as_json_ld),
        HighlightFormat("csv", "text/csv; charset=utf-8", "csv", as_csv),
    )
}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
