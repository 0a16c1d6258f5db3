"""OPML 1.0 and 2.0 (opml.org/spec2.opml): guarded import and export of feeds, with categories as folders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from lxml import etree

from feeds.adding import Added, WantedFeed, add_feeds
from feeds.categories import Path, all_paths, categories_at
from feeds.models import Category, Feed

MAX_BYTES = 20 * 1024 * 1024
MAX_DEPTH = 64
MAX_NAME = 200
MAX_TITLE = 400

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")


class OpmlError(ValueError):
    """Error for a file that is not readable OPML; the message says what is wrong and, where known, in which
    line.
    """


class NoFeedsError(OpmlError):
    """Error for a file without a feed."""

    def __init__(self) -> None:
        super().__init__(_("the file names no feed (no outline has an xmlUrl)"))


@dataclass(frozen=True, slots=True)
class Outline:
    """A feed of an OPML file. `folder` holds the names around it, outermost first."""

    url: str
    title: str = ""
    folder: tuple[str, ...] = ()
    site_url: str = ""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import; `refused` holds (address, message), `outcomes` one entry per outline."""

    added: int
    duplicates: int
    refused: list[tuple[str, str]]
    outcomes: list[Added]


def import_opml(data: bytes, *, category: Category | None = None) -> ImportReport:
    """Add all feeds of an OPML file, below `category` where one is given.

    Raises OpmlError for an unreadable file; no feed is stored then.
    """
    outlines = read_opml(data)
    if not outlines:
        raise NoFeedsError
    return import_outlines(outlines, category=category)


@transaction.atomic
def import_outlines(outlines: Sequence[Outline], *, category: Category | None = None) -> ImportReport:
    """Add the feeds of outlines; folders become categories."""
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
    """Write `feeds`, by default all feeds, as OPML 2.0 with categories as nested folders."""
    paths = all_paths()
    rows = (Feed.objects.all() if feeds is None else feeds).values_list(
        "url", "title", "site_url", "category_id"
    )
    outlines = [Outline(url, title, paths.get(category, ()), site) for url, title, site, category in rows]
    outlines.sort(key=lambda outline: (outline.folder, outline.title.casefold(), outline.url))
    return write_opml(outlines, "Freshet's feeds", datetime.now(UTC))


def read_opml(data: bytes) -> list[Outline]:
    """Read the feeds of an OPML file in document order, without opening anything outside of the file.

    Raises OpmlError for files that are unreadable, larger than 20 MB, declare a document type (entities), or
    are nested deeper than 64 outlines.
    """
    if len(data) > MAX_BYTES:
        raise OpmlError(_("the file is larger than %(bytes)s MB") % {"bytes": MAX_BYTES // 1024 // 1024})
    if not data.strip():
        raise OpmlError(_("the file is empty"))
    # Zero bytes go so that UTF-16 cannot hide it.
    if b"<!doctype" in data.replace(b"\0", b"").lower():
        raise OpmlError(_("the file declares a document type, which no OPML file needs"))
    root = _parse(data)
    if _local_name(root) != "opml":
        raise OpmlError(
            _("line %(sourceline)s: the outermost element is <%(root)s>, not <opml>")
            % {"sourceline": root.sourceline, "root": _local_name(root)}
        )
    body = next((child for child in root if _local_name(child) == "body"), None)
    if body is None:
        raise OpmlError(_("the file has no <body>"))
    return list(_walk(body))


def write_opml(outlines: Sequence[Outline], title: str, at: datetime) -> bytes:
    """Write OPML 2.0 in UTF-8 with nested folders, outlines in the given order within each folder."""
    root = etree.Element("opml", version="2.0")
    head = etree.SubElement(root, "head")
    etree.SubElement(head, "title").text = _clean(title)
    etree.SubElement(head, "dateCreated").text = format_datetime(at.astimezone(UTC), usegmt=True)
    folders: dict[tuple[str, ...], etree._Element] = {(): etree.SubElement(root, "body")}
    for outline in outlines:
        for depth in range(1, len(outline.folder) + 1):
            path = outline.folder[:depth]
            if path not in folders:
                name = _clean(path[-1])
                folders[path] = etree.SubElement(folders[path[:-1]], "outline", text=name, title=name)
        label = _clean(outline.title) or outline.url
        attributes = {"type": "rss", "text": label, "title": label, "xmlUrl": _clean(outline.url)}
        if outline.site_url:
            attributes["htmlUrl"] = _clean(outline.site_url)
        etree.SubElement(folders[outline.folder], "outline", attributes)
    etree.indent(root)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _parse(data: bytes) -> etree._Element:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True
    )
    try:
        root = etree.fromstring(data.lstrip(), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise OpmlError(_("the file is not well-formed XML: %(error)s") % {"error": error}) from None
    # A document type in an encoding that the search above did not see.
    if root.getroottree().docinfo.internalDTD is not None:
        raise OpmlError(_("the file declares a document type, which no OPML file needs"))
    return root


def _walk(body: etree._Element) -> Iterator[Outline]:
    """Yield the feeds depth first in document order, without recursion."""
    waiting: list[tuple[etree._Element, tuple[str, ...], int]] = [(child, (), 1) for child in reversed(body)]
    while waiting:
        element, folder, depth = waiting.pop()
        if _local_name(element) != "outline":
            continue
        if depth > MAX_DEPTH:
            raise OpmlError(
                _("line %(sourceline)s: folders are nested deeper than %(depth)s")
                % {"sourceline": element.sourceline, "depth": MAX_DEPTH}
            )
        attributes = {str(name).lower(): str(value).strip() for name, value in element.attrib.items()}
        title = _clean(attributes.get("text") or attributes.get("title") or "")
        url = _address(attributes)
        if url:
            yield Outline(
                url=url,
                title=title[:MAX_TITLE],
                folder=folder or _first_category(attributes.get("category", "")),
                site_url=_clean(attributes.get("htmlurl", "")),
            )
        inside = (*folder, title[:MAX_NAME].strip()) if title else folder
        waiting.extend((child, inside, depth + 1) for child in reversed(element))


def _address(attributes: dict[str, str]) -> str:
    """Return `xmlUrl` in any case, or the `url` of old files with type rss or atom."""
    if attributes.get("xmlurl"):
        return attributes["xmlurl"]
    return attributes.get("url", "") if attributes.get("type", "").lower() in {"rss", "atom"} else ""


def _first_category(categories: str) -> tuple[str, ...]:
    """Return the folder for a feed outside of any: the first path of the attribute `category`, "/a/b,/c"."""
    first = categories.split(",", maxsplit=1)[0]
    parts = (_clean(part)[:MAX_NAME].strip() for part in first.split("/"))
    return tuple(part for part in parts if part)[:MAX_DEPTH]


def _clean(text: str) -> str:
    return _UNPRINTABLE.sub(" ", text).strip()


def _local_name(element: etree._Element) -> str:
    """Return the element's name in lower case without namespace. Returns "" for processing instructions."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""
