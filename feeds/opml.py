"""The deployment's feeds in from OPML and out to it, with categories as folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import QuerySet

from feeds.adding import Added, WantedFeed, add_feeds
from feeds.categories import Path, all_paths, categories_at
from feeds.models import Category, Feed
from feeds.outlines import OpmlError, Outline, read_opml, write_opml

__all__ = ["ImportReport", "OpmlError", "export_opml", "import_opml", "import_outlines"]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an OPML file brought; `refused` holds (address, message), `outcomes` one entry per outline."""

    added: int
    duplicates: int
    refused: list[tuple[str, str]]
    outcomes: list[Added]


def import_opml(data: bytes, *, category: Category | None = None) -> ImportReport:
    """Add all feeds of an OPML file, below `category` where one is given.

    Raises OpmlError for a file that cannot be read; nothing is stored then.
    """
    outlines = read_opml(data)
    if not outlines:
        raise OpmlError("the file names no feed (no outline has an xmlUrl)")
    return import_outlines(outlines, category=category)


@transaction.atomic
def import_outlines(outlines: Sequence[Outline], *, category: Category | None = None) -> ImportReport:
    """Add the feeds of outlines that were read already; folders become categories."""
    base: Path = category.path if category else ()
    folders = [(*base, *outline.folder) for outline in outlines]
    keys = categories_at({folder for folder in folders if folder})
    outcomes = add_feeds(
        [
            WantedFeed(outline.url, outline.title, keys.get(folder))
            for outline, folder in zip(outlines, folders, strict=True)
        ]
    )
    refused = [
        (outline.url, outcome.message)
        for outline, outcome in zip(outlines, outcomes, strict=True)
        if outcome.outcome == "refused"
    ]
    return ImportReport(
        added=sum(outcome.outcome == "added" for outcome in outcomes),
        duplicates=sum(outcome.outcome == "duplicate" for outcome in outcomes),
        refused=refused,
        outcomes=outcomes,
    )


def export_opml(feeds: QuerySet[Feed] | None = None) -> bytes:
    """All feeds, or those of the query, as OPML 2.0 with categories as nested folders."""
    paths = all_paths()
    rows = (Feed.objects.all() if feeds is None else feeds).values_list(
        "url", "title", "site_url", "category_id"
    )
    outlines = [Outline(url, title, paths.get(category, ()), site) for url, title, site, category in rows]
    outlines.sort(key=lambda outline: (outline.folder, outline.title.casefold(), outline.url))
    return write_opml(outlines, "Freshet's feeds", datetime.now(UTC))
