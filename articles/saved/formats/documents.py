"""Exports as JSON: Wallabag, Omnivore, Karakeep, linkding, Linkwarden, Pinboard, Readeck, browsers. Pure.

Forms: wallabag's Entry and Annotation in group export_all, omnivore's jobs/export.ts, karakeep's
exporters.ts, linkding's API, linkwarden's migration/exportData.ts, Pocket's annotations, Firefox's bookmark
backup, Chrome's "Bookmarks". Numbers of problems are those of entries, from 1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from articles.saved.formats.bookmarks import MAX_FOLDERS, is_root
from articles.saved.formats.pages import EntryCollection, FiledPage, NotSavedPages, SavedFile, SavedHighlight
from articles.saved.formats.values import TIMES, Times, flag, list_of, plain, raw, tags_of

Entry = Mapping[str, Any]
Reader = Callable[[Entry, Times], FiledPage]
NO_PAGE = "https://omnivore.app/no_url"
"""Begins the address that Omnivore gives to an e-mail."""


def wallabag(entry: Entry, times: Times) -> FiledPage:
    """Read an entry of wallabag 2, or of 1 with is_read and is_fav."""
    return FiledPage(
        url=raw(entry.get("url")) or raw(entry.get("given_url")),
        title=plain(entry.get("title")),
        tags=tags_of(entry.get("tags")),
        saved=times.read(entry.get("created_at")),
        is_read=flag(entry.get("is_archived", entry.get("is_read"))),
        is_starred=flag(entry.get("is_starred", entry.get("is_fav"))),
        language=raw(entry.get("language")),
        html=raw(entry.get("content")),
        highlights=_highlights(entry.get("annotations"), times),
    )


def omnivore(entry: Entry, times: Times) -> FiledPage:
    """Read an entry of Omnivore's metadata. Its content and highlights are in files of their own."""
    return FiledPage(
        url=raw(entry.get("url")),
        title=plain(entry.get("title")),
        tags=tags_of(entry.get("labels")),
        saved=times.read(entry.get("savedAt")),
        is_read=raw(entry.get("state")).lower() == "archived",
    )


def karakeep(entry: Entry, times: Times) -> FiledPage:
    """Read a bookmark of Karakeep, or of Hoarder before. One without link has no address."""
    content = entry.get("content")
    content = content if isinstance(content, dict) else {}
    return FiledPage(
        url=raw(content.get("url")),
        title=plain(entry.get("title")) or plain(content.get("title")),
        tags=tags_of(entry.get("tags")),
        note=raw(entry.get("note")) or raw(content.get("text")),
        saved=times.read(entry.get("createdAt")),
        is_read=flag(entry.get("archived")),
        is_starred=flag(entry.get("favourited")),
        html=raw(content.get("htmlContent")),
    )


def linkding(entry: Entry, times: Times) -> FiledPage:
    """Read a bookmark of linkding's API."""
    notes = [raw(entry.get("description")), raw(entry.get("notes"))]
    return FiledPage(
        url=raw(entry.get("url")),
        title=plain(entry.get("title")) or plain(entry.get("website_title")),
        tags=tags_of(entry.get("tag_names")),
        note="\n\n".join(filter(None, notes)),
        saved=times.read(entry.get("date_added")),
        is_read=flag(entry.get("is_archived")) or entry.get("unread") is False,
    )


def linkwarden(entry: Entry, times: Times) -> FiledPage:
    """Read a link of Linkwarden."""
    return FiledPage(
        url=raw(entry.get("url")),
        title=plain(entry.get("name")),
        tags=tags_of(entry.get("tags")),
        note=raw(entry.get("description")),
        saved=times.read(entry.get("importDate") or entry.get("createdAt")),
    )


def pinboard(entry: Entry, times: Times) -> FiledPage:
    """Read a bookmark of Pinboard, whose description is the title and whose tags stand between spaces."""
    return FiledPage(
        url=raw(entry.get("href")),
        title=plain(entry.get("description")),
        tags=tags_of(raw(entry.get("tags")), " "),
        note=plain(entry.get("extended")),
        saved=times.read(entry.get("time")),
        is_read=raw(entry.get("toread")) == "no",
    )


def readability(entry: Entry, times: Times) -> FiledPage:
    """Read a bookmark of Readability."""
    return FiledPage(
        url=raw(entry.get("article__url")),
        title=plain(entry.get("article__title")),
        saved=times.read(entry.get("date_added")),
        is_read=flag(entry.get("archive")),
        is_starred=flag(entry.get("favorite")),
    )


def readeck(entry: Entry, times: Times) -> FiledPage:
    """Read a bookmark of Readeck: its API's, or with capital letters its backup's info.json."""
    values = {name.replace("_", "").lower(): value for name, value in entry.items()}
    return FiledPage(
        url=raw(values.get("url")),
        title=plain(values.get("title")),
        tags=tags_of(values.get("labels")),
        saved=times.read(values.get("created")),
        is_read=flag(values.get("isarchived")),
        is_starred=flag(values.get("ismarked")),
        language=raw(values.get("lang")),
        highlights=_highlights(values.get("annotations"), times),
    )


def pocket_annotations(entry: Entry, times: Times) -> FiledPage:
    """Read the highlights of a page from the annotations of Pocket's export."""
    return FiledPage(
        url=raw(entry.get("url")),
        title=plain(entry.get("title")),
        highlights=_highlights(entry.get("highlights"), times),
    )


def pocket(entry: Entry, times: Times) -> FiledPage:
    """Read a page of Pocket's table that was turned into JSON, with tags between "|"."""
    page = plain_entry(entry, times)
    is_read = raw(entry.get("status")).lower() in ("archive", "read")
    return replace(page, tags=tags_of(entry.get("tags"), "|"), is_read=is_read)


def plain_entry(entry: Entry, times: Times) -> FiledPage:
    """Read an entry of any list with addresses, by the usual names."""
    return FiledPage(
        url=raw(entry.get("url")),
        title=plain(entry.get("title")) or plain(entry.get("name")),
        tags=tags_of(entry.get("tags")),
        note=plain(entry.get("note")),
        saved=times.read(next((entry[name] for name in TIMES if entry.get(name)), "")),
    )


# The first that fits: names that several programs have stand below those that only one has.
_LISTS: tuple[tuple[str, frozenset[str], Reader], ...] = (
    ("Wallabag", frozenset({"url", "is_archived", "is_starred"}), wallabag),
    ("Wallabag", frozenset({"url", "is_read", "is_fav"}), wallabag),
    ("linkding", frozenset({"url", "tag_names"}), linkding),
    ("Readeck", frozenset({"url", "is_marked", "labels"}), readeck),
    ("Omnivore", frozenset({"url", "savedAt"}), omnivore),
    ("Pinboard", frozenset({"href", "description"}), pinboard),
    ("Pocket", frozenset({"url", "highlights"}), pocket_annotations),
    ("Readability", frozenset({"article__url"}), readability),
    ("Karakeep", frozenset({"content", "createdAt"}), karakeep),
    ("Pocket", frozenset({"url", "time_added"}), pocket),
    ("JSON", frozenset({"url"}), plain_entry),
)
"""Programs by names that their entries have."""


def is_document(text: str) -> bool:
    """Return whether a text may be JSON."""
    return text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")


def read_document(text: str) -> SavedFile:
    """Read a JSON file. Raises NotSavedPages when it is damaged, or of no known program."""
    value = loaded(text)
    if isinstance(value, list):
        return read_entries(value)
    if not isinstance(value, dict):
        raise NotSavedPages("This JSON file is not of a known program.")
    if isinstance(value.get("roots"), dict):
        return _chrome(value["roots"])
    if isinstance(value.get("children"), list):
        return _firefox(value)
    if isinstance(value.get("collections"), list):
        return _linkwarden(value)
    if isinstance(value.get("bookmarks"), list):
        return read_entries(_with_lists(value["bookmarks"], value.get("lists")), "Karakeep")
    embedded = value.get("_embedded")
    for entries in (
        value.get("results"),
        embedded.get("items") if isinstance(embedded, dict) else None,
    ):
        if isinstance(entries, list):
            return read_entries(entries, "linkding")
    raise NotSavedPages("This JSON file is not of a known program.")


def _with_lists(entries: list[Any], lists: object) -> list[Any]:
    """Return Karakeep's bookmarks with the names of their lists as tags, before their own."""
    names = {
        raw(item.get("id")): plain(item.get("name"))
        for item in (lists if isinstance(lists, list) else [])
        if isinstance(item, dict)
    }
    if not names:
        return entries
    return [
        {
            **entry,
            "tags": [
                *(names.get(key, "") for key in list_of(entry.get("lists"))),
                *list_of(entry.get("tags")),
            ],
        }
        if isinstance(entry, dict)
        else entry
        for entry in entries
    ]


def loaded(text: str) -> Any:
    """Read JSON. Raises NotSavedPages when it is damaged or nested too deeply."""
    try:
        return json.loads(text.lstrip("\ufeff"))
    except RecursionError as error:
        raise NotSavedPages("This JSON file is nested too deeply.") from error
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise NotSavedPages(
            f"This JSON file is damaged at line {line}. It may not have arrived whole."
        ) from error


def read_entries(entries: list[Any], fallback: str = "") -> SavedFile:
    """Read a list of entries by the names that the first ones have. An empty one is the fallback's."""
    # The first entries may be damaged; fifty are enough to know the program.
    objects = [entry for entry in entries[:50] if isinstance(entry, dict)]
    program, read = next(
        ((program, read) for program, names, read in _LISTS for entry in objects if names <= entry.keys()),
        (fallback, None),
    )
    if read is None and (not fallback or entries):
        raise NotSavedPages("This JSON file is not of a known program.")
    collection, times = EntryCollection(program), Times()
    for number, entry in enumerate(entries, 1):
        if read is not None:
            add_entry(collection, read, entry, number, times)
    return collection.file()


def add_entry(collection: EntryCollection, read: Reader, entry: object, number: int, times: Times) -> None:
    """Add an entry, or note as a problem that it is no object or an e-mail without a page."""
    if not isinstance(entry, dict):
        collection.refuse(number, str(entry), "The entry is not an object.")
        return
    page = read(entry, times)
    # Omnivore kept newsletters as pages without an address of the web.
    if page.url.startswith(NO_PAGE) and not page.html:
        collection.refuse(number, page.title or page.url, "The entry is an e-mail without a web page.")
        return
    collection.add(page, number)


def _highlights(value: object, times: Times) -> tuple[SavedHighlight, ...]:
    if not isinstance(value, list):
        return ()
    highlights = []
    for item in filter(lambda item: isinstance(item, dict), value):
        quote, text = raw(item.get("quote")), raw(item.get("text"))
        created_at = times.read(item.get("created_at") or item.get("created"))
        note = raw(item.get("note")) or (text if quote else "")
        if quote or text:
            highlights.append(
                SavedHighlight(
                    quote or text, note, raw(item.get("color")), tuple(list_of(item.get("tags"))), created_at
                )
            )
    return tuple(highlights)


def _linkwarden(value: Entry) -> SavedFile:
    """Read Linkwarden's backup: links in collections, whose names and parents' names become tags."""
    collection, times = EntryCollection("Linkwarden"), Times()
    groups = [group for group in value["collections"] if isinstance(group, dict)]
    by_id = {group["id"]: group for group in groups if isinstance(group.get("id"), int)}
    pinned = {raw(link.get("url")) for link in value.get("pinnedLinks") or [] if isinstance(link, dict)}
    number = 0
    for group in groups:
        names = _path(group, by_id)
        for link in group.get("links") or []:
            number += 1
            if not isinstance(link, dict):
                collection.refuse(number, str(link), "The entry is not an object.")
                continue
            page = linkwarden(link, times)
            collection.add(replace(page, tags=(*names, *page.tags), is_starred=page.url in pinned), number)
    return collection.file()


def _path(group: Entry, by_id: Mapping[int, Entry]) -> list[str]:
    names: list[str] = []
    visited = set()
    current: Entry | None = group
    # A damaged backup may have a collection inside of itself.
    while current is not None and id(current) not in visited:
        visited.add(id(current))
        name = plain(current.get("name"))
        # Linkwarden's collection for what is in none.
        if name and name.lower() != "unorganized":
            names.insert(0, name)
        parent = current.get("parentId")
        current = by_id.get(parent) if isinstance(parent, int) else None
    return names


def _chrome(roots: Entry) -> SavedFile:
    """Read Chrome's file: folders below roots, times in microseconds since 1601."""
    collection, times = EntryCollection("Chrome"), Times()
    tops = [
        node for node in roots.values() if isinstance(node, dict) and isinstance(node.get("children"), list)
    ]
    walk = _walk(tops, "name", lambda node: any(node is top for top in tops))
    for number, (node, folders) in enumerate(walk, 1):
        title, saved = plain(node.get("name")), times.read(node.get("date_added"))
        collection.add(FiledPage(raw(node.get("url")), title, folders, saved=saved), number)
    return collection.file()


def _firefox(root: Entry) -> SavedFile:
    """Read Firefox's backup: containers below roots, times in microseconds, tags between commas."""
    collection, times = EntryCollection("Firefox"), Times()
    walk = _walk([root], "title", lambda node: bool(node.get("root")))
    for number, (node, folders) in enumerate(walk, 1):
        if node.get("type") == "text/x-moz-place-separator" or raw(node.get("typeCode")) == "3":
            continue
        annotations = node.get("annos")
        notes = [
            plain(item.get("value"))
            for item in (annotations if isinstance(annotations, list) else [])
            if isinstance(item, dict) and item.get("name") == "bookmarkProperties/description"
        ]
        tags = (*folders, *tags_of(raw(node.get("tags"))))
        saved = times.read(node.get("dateAdded"))
        collection.add(
            FiledPage(raw(node.get("uri")), plain(node.get("title")), tags, "".join(notes), saved), number
        )
    return collection.file()


def _walk(
    tops: Iterable[Entry], name: str, is_top: Callable[[Entry], bool]
) -> Iterator[tuple[Entry, tuple[str, ...]]]:
    """Yield each node without children and the names of its folders, in order, without recursion."""
    stack: list[tuple[Entry, tuple[str, ...]]] = [(top, ()) for top in reversed(list(tops))]
    while stack:
        node, folders = stack.pop()
        children = node.get("children")
        if isinstance(children, list):
            title = plain(node.get(name))
            below = (
                folders if is_top(node) or not title or is_root(title) else (*folders, title)[-MAX_FOLDERS:]
            )
            stack.extend((child, below) for child in reversed(children) if isinstance(child, dict))
        elif raw(node.get("type")) not in ("folder", "text/x-moz-place-container"):
            yield node, folders
