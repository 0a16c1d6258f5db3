"""OPML 1.0 and 2.0 (opml.org/spec2.opml): guarded import and export of feeds, with categories as folders."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from itertools import islice
from typing import Protocol, cast

from cssselect import HTMLTranslator, SelectorError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from lxml import etree

from crawler.reading.lines import SelectorFault
from crawler.reading.parts import language_and_expression
from crawler.reading.references import mended
from crawler.reading.sources.kinds import DATA, FEED, LISTS, MAIL, PAGE
from feeds.adding.add import Added, WantedFeed, add_feeds
from feeds.categories import Path, all_paths, categories_at
from feeds.models import Category, Feed
from feeds.rules import checked_rules

# A list of 19 MB took 2.9 GB as a tree; it is read in pieces since.
MAX_BYTES = 20 * 1024 * 1024
# Deeper folders are no work of people, and a category's path is walked at every level.
MAX_DEPTH = 64
MAX_NAME = 200
MAX_TITLE = 400
MAX_AT_ONCE = 10_000
"""Feeds of a list that is added while its sender waits for the answer, as the API does."""
_CHUNK = 64 * 1024

_FRESHRSS, _OWN = "https://freshrss.org/opml", "urn:freshet:opml"
_FRESHRSS_KINDS = {PAGE: ("HTML+XPath", "xPath"), DATA: ("JSON+DotNotation", "json")}
"""By kind of source FreshRSS's type of an outline and how its attributes for rules begin (its OPML.md)."""
_FRESHRSS_RULES = {
    "entry": "Item", "title": "ItemTitle", "link": "ItemUri", "date": "ItemTimestamp",
    "image": "ItemThumbnail", "summary": "ItemContent",
}  # fmt: skip
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STEP = re.compile(r"(?:([A-Za-z_][A-Za-z0-9_]*)|\"([^\"\\.\[\]]+)\")((?:\[\d+\])*)")
"""A step of a path in jq: a name, in quotation marks if it is no plain one, and places in lists."""
_DOTTED = re.compile(r"([^.\[\]\"\\]+)((?:\[\d+\])*)")
"""A step of a dotted path of FreshRSS."""
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")


class Readable(Protocol):
    """A file that is read in pieces, such as an upload."""

    def read(self, size: int = ..., /) -> bytes:
        """Return the next bytes."""


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
    """A feed of an OPML file. `folder` holds the names around it, outermost first.

    A list in a page or in JSON has its `kind` and the `rules` for its entries. One that `is_own` belongs
    to the person who brings the file alone.
    """

    url: str
    title: str = ""
    folder: tuple[str, ...] = ()
    site_url: str = ""
    kind: str = FEED
    rules: Mapping[str, str] = field(default_factory=dict)
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import; `refused` holds (address, message), `outcomes` one entry per outline."""

    added: int
    duplicates: int
    refused: list[tuple[str, str]]
    outcomes: list[Added]


def import_opml(data: bytes, *, category: Category | None = None) -> ImportReport:
    """Add all feeds of an OPML file, below `category` if one is given.

    Raises OpmlError for an unreadable file; no feed is stored then.
    """
    return import_outlines(list(feeds_in(io.BytesIO(data))), category=category)


def feeds_in(file: Readable) -> Iterator[Outline]:
    """Yield the feeds of an OPML file. Raises OpmlError as `outlines_in` does, and for a file without one."""
    outline = None
    for outline in outlines_in(file):
        yield outline
    if outline is None:
        raise NoFeedsError


def at_once(outlines: Iterable[Outline]) -> list[Outline]:
    """Return outlines that are few enough to be added in one answer. Raises OpmlError for more."""
    rows = list(islice(outlines, MAX_AT_ONCE + 1))
    if len(rows) > MAX_AT_ONCE:
        message = _("the list has more than %(most)d feeds, which only the page for adding feeds takes")
        raise OpmlError(message % {"most": MAX_AT_ONCE})
    return rows


@transaction.atomic
def import_outlines(outlines: Sequence[Outline], *, category: Category | None = None) -> ImportReport:
    """Add the feeds of outlines; folders become categories."""
    base: Path = category.path if category else ()
    folders = [(*base, *outline.folder) for outline in outlines]
    keys = categories_at({folder for folder in folders if folder})
    outcomes = add_feeds(
        [
            WantedFeed(outline.url, outline.title, keys.get(folder), outline.kind, outline.rules)
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
        "url", "title", "site_url", "category_id", "kind", "rules"
    )
    outlines = [
        Outline(url, title, paths.get(category, ()), site, kind, rules)
        for url, title, site, category, kind, rules in rows
        if kind != MAIL  # which nobody can fetch
    ]
    outlines.sort(key=lambda outline: (outline.folder, outline.title.casefold(), outline.url))
    return write_opml(outlines, "Freshet's feeds", datetime.now(UTC))


def read_opml(data: bytes) -> list[Outline]:
    """Read the feeds of an OPML file in document order. Raises OpmlError as `outlines_in` does."""
    return list(outlines_in(io.BytesIO(data)))


def outlines_in(file: Readable) -> Iterator[Outline]:
    """Yield the feeds of an OPML file in document order, without opening anything outside of the file.

    Reads no further than the caller asks, and keeps no tree: a list of 19 MB took 2.9 GB as one. A stray `&`
    is taken for text, and HTML's named entities for their characters. Raises OpmlError for
    files that are unreadable, larger than 20 MB, declare a document type (entities), or are nested deeper
    than 64 outlines.
    """
    parser = etree.XMLPullParser(
        ("start", "end"), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        remove_comments=True,
    )  # fmt: skip
    walk = _Walk()
    try:
        for chunk in mended(_chunks(file)):
            try:
                parser.feed(chunk)
            finally:  # what stood before a fault may be one of ours, in better words
                yield from walk.outlines(parser)
        parser.close()
    except (etree.XMLSyntaxError, LookupError) as error:
        raise OpmlError(_("the file is not well-formed XML: %(error)s") % {"error": error}) from None
    if not walk.has_body:
        raise OpmlError(_("the file has no <body>"))


def write_opml(outlines: Sequence[Outline], title: str, at: datetime) -> bytes:
    """Write OPML 2.0 in UTF-8 with nested folders, outlines in the given order within each folder."""
    root = etree.Element("opml", {"version": "2.0"}, nsmap={"frss": _FRESHRSS, "freshet": _OWN})
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
        attributes |= _rule_attributes(outline)
        if outline.site_url:
            attributes["htmlUrl"] = _clean(outline.site_url)
        etree.SubElement(folders[outline.folder], "outline", attributes)
    etree.indent(root)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _rule_attributes(outline: Outline) -> dict[str, str]:
    """Return the attributes by which Freshet and FreshRSS know a list in a page or in JSON."""
    if outline.kind not in LISTS:
        return {}
    attributes = {
        f"{{{_OWN}}}kind": outline.kind,
        f"{{{_OWN}}}rules": json.dumps(dict(outline.rules), sort_keys=True),
    }
    freshrss_type, prefix = _FRESHRSS_KINDS[outline.kind]
    theirs = {
        name: _for_freshrss(outline.kind, outline.rules[part])
        for part, name in _FRESHRSS_RULES.items()
        if part in outline.rules
    }
    if theirs.get("Item") and all(theirs.values()):
        attributes["type"] = freshrss_type
        attributes |= {f"{{{_FRESHRSS}}}{prefix}{name}": _clean(rule) for name, rule in theirs.items()}
    return attributes


def _for_freshrss(kind: str, rule: str) -> str:
    """Return a rule as FreshRSS takes it: an XPath, or a dotted path; "" where it cannot be one."""
    if kind == DATA:
        return _dotted(rule.removeprefix("jq:").strip())
    language, expression = language_and_expression(rule)
    if language == "xpath":
        return expression
    try:
        return str(HTMLTranslator().css_to_xpath(expression, prefix="descendant::"))
    except SelectorError:
        return ""


def _dotted(path: str) -> str:
    """Return a path of jq as a dotted one of FreshRSS, "" where it cannot be one."""
    if path == ".[]":
        return "$"
    steps = [_STEP.fullmatch(step) for step in path.removesuffix("[]").removeprefix(".").split(".")]
    return ".".join(f"{match[1] or match[2]}{match[3]}" for match in steps if match) if all(steps) else ""


def _of_dotted(path: str) -> str:
    """Return a dotted path of FreshRSS, in which `$` is the document, as one of jq. Raises ValueError."""
    steps = [_DOTTED.fullmatch(step) for step in path.removeprefix("$").removeprefix(".").split(".")]
    if path in ("", "$"):
        return "."
    if not all(steps):
        raise ValueError(path)
    return "".join(
        f".{match[1] if _PLAIN.fullmatch(match[1]) else json.dumps(match[1])}{match[2]}"
        for match in steps
        if match
    )


def _rules_of(attributes: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return kind and rules of an outline; those that cannot be used are left out with their kind."""
    kind = attributes.get(f"{{{_OWN}}}kind", "")
    try:
        if kind in LISTS:
            return kind, checked_rules(kind, json.loads(attributes.get(f"{{{_OWN}}}rules", "{}")))
        for kind, (freshrss_type, prefix) in _FRESHRSS_KINDS.items():
            if attributes.get("type", "").casefold() != freshrss_type.casefold():
                continue
            rules = {
                part: value
                for part, name in _FRESHRSS_RULES.items()
                if (value := attributes.get(f"{{{_FRESHRSS}}}{prefix}{name}".lower(), ""))
            }
            if kind == PAGE:
                rules = {part: f"xpath:{expression}" for part, expression in rules.items()}
            else:
                rules = {part: _of_dotted(path) for part, path in rules.items()}
                rules["entry"] = f"{rules['entry']}[]"
            return kind, checked_rules(kind, rules)
    except (ValueError, KeyError, AttributeError, SelectorFault):
        pass
    return FEED, {}


def _chunks(file: Readable) -> Iterator[bytes]:
    """Yield a file in pieces, without blanks at its beginning. Raises OpmlError."""
    size, begun, before = 0, False, b""
    while piece := file.read(_CHUNK):
        size += len(piece)
        if size > MAX_BYTES:
            raise OpmlError(_("the file is larger than %(bytes)s MB") % {"bytes": MAX_BYTES // 1024 // 1024})
        # Zero bytes go so that UTF-16 cannot hide it.
        plain = before + piece.replace(b"\0", b"").lower()
        if b"<!doctype" in plain:
            raise OpmlError(_("the file declares a document type, which no OPML file needs"))
        before = plain[-16:]
        piece = piece if begun else piece.lstrip()
        if piece:
            begun = True
            yield piece
    if not begun:
        raise OpmlError(_("the file is empty"))


class _Walk:
    """The way of a parser through a file: the open elements, each with the folder that it is for those
    inside, None if nothing inside is read.
    """

    def __init__(self) -> None:
        self.has_body = False
        self._open: list[tuple[str, ...] | None] = []

    def outlines(self, parser: etree.XMLPullParser) -> Iterator[Outline]:
        """Yield the feeds that a parser has read since, and forget their elements."""
        for event, element in cast(Iterator[tuple[str, etree._Element]], parser.read_events()):
            if event == "end":
                self._open.pop()
                _forget(element)
                continue
            folder, outline = self._entered(element)
            self._open.append(folder)
            if outline is not None:
                yield outline

    def _entered(self, element: etree._Element) -> tuple[tuple[str, ...] | None, Outline | None]:
        """Return the folder for what is inside an element, and the feed that it is."""
        depth, name = len(self._open), _local_name(element)
        if depth == 0:
            _check_root(element, name)
            return None, None
        if depth == 1 and name == "body" and not self.has_body:
            self.has_body = True
            return (), None
        around = self._open[-1]
        if around is None or name != "outline":
            return None, None
        if depth - 1 > MAX_DEPTH:
            raise OpmlError(
                _("line %(sourceline)s: folders are nested deeper than %(depth)s")
                % {"sourceline": element.sourceline, "depth": MAX_DEPTH}
            )
        return _read_outline(element, around)


def _check_root(root: etree._Element, name: str) -> None:
    # A document type in an encoding that the search in the bytes did not see.
    if root.getroottree().docinfo.internalDTD is not None:
        raise OpmlError(_("the file declares a document type, which no OPML file needs"))
    if name != "opml":
        raise OpmlError(
            _("line %(sourceline)s: the outermost element is <%(root)s>, not <opml>")
            % {"sourceline": root.sourceline, "root": name}
        )


def _forget(element: etree._Element) -> None:
    """Free what is inside an element that was read, and the elements before it."""
    element.clear(keep_tail=True)  # type: ignore[call-arg]  # unknown to lxml-stubs
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _read_outline(element: etree._Element, folder: tuple[str, ...]) -> tuple[tuple[str, ...], Outline | None]:
    """Return the folder for what is inside an outline, and the feed if it is one."""
    attributes = {str(name).lower(): str(value).strip() for name, value in element.attrib.items()}
    title = _clean(attributes.get("text") or attributes.get("title") or "")
    inside = (*folder, title[:MAX_NAME].strip()) if title else folder
    url = _address(attributes)
    if not url:
        return inside, None
    kind, rules = _rules_of(attributes)
    return inside, Outline(
        kind=kind,
        rules=rules,
        url=url,
        title=title[:MAX_TITLE],
        folder=folder or _first_category(attributes.get("category", "")),
        site_url=_clean(attributes.get("htmlurl", "")),
    )


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
