"""Changes as rows of an export: the sentence about each, and its lines with + and - before them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from articles.exporting.querying import key_chunks, keys_in
from articles.exporting.rows import ExportRow
from recrawl.changes.describing import sentence
from recrawl.comparing.differences import Difference
from recrawl.models import Change

ROWS = 200
_SIGNS = {"same": "  ", "removed": "- ", "added": "+ "}


def change_rows(changes: QuerySet[Any]) -> Iterator[ExportRow]:
    """Yield the changes of a query in its order, each chunk of them in one query."""
    change_query = Change.objects.with_pages().select_related("site", "page").order_by()
    for chunk in key_chunks(keys_in(changes), ROWS):
        rows: dict[int, Change] = {row.pk: row for row in change_query.filter(pk__in=chunk)}
        for key in chunk:
            if (row := rows.get(key)) is not None:
                yield _row(row)


def _row(row: Change) -> ExportRow:
    gain = Difference.unpacked(bytes(row.difference))
    kind = str(row.get_kind_display())
    return ExportRow(
        key=str(row.pk),
        uid=row.uid.urn,
        url=row.page.url,
        title=f"{kind.capitalize()}: {row.title or row.page.url}",
        kind="change",
        published=row.at,
        updated=row.at,
        seen=row.at,
        site=str(row.site),
        tags=[row.kind],
        summary=sentence(row, gain),
        text=_as_text(gain),
    )


def _as_text(gain: Difference) -> str:
    """Return the hunks as lines with a sign before each, an empty line between hunks."""
    hunks = []
    for hunk in gain.hunks:
        lines = []
        for kind, old, new in hunk:
            if kind == "edited":
                lines += [f"- {old}", f"+ {new}"]
            else:
                lines.append(f"{_SIGNS[kind]}{new if kind != 'removed' else old}")
        hunks.append("\n".join(lines))
    return "\n\n".join(hunks)
