"""Exports as HTML and XML: bookmark files, Pocket's and Instapaper's lists, posts of Delicious. Pure.

The bookmark file is Netscape's (msdn aa753582): <DT><A> with ADD_DATE and TAGS, <DD> for its note, <H3> and
<DL> for folders. Pocket's ril_export.html and Instapaper's have headings above lists of links.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from articles.saved.formats.markup import Tag, pieces
from articles.saved.formats.pages import EntryCollection, FiledPage, NotSavedPages, SavedFile
from articles.saved.formats.values import Times, plain, tags_of, twice_unescaped

MAX_FOLDERS = 20
"""Innermost folders that become tags of a page."""

_POCKET, _INSTAPAPER = "Pocket", "Instapaper"
_TITLE = re.compile(r"<title>\s*([^<]{0,200})", re.IGNORECASE)
_BOOKMARKS = re.compile(r"NETSCAPE-Bookmark-file|<DT>\s*<(?:A|H3)\b", re.IGNORECASE)
_POSTS = re.compile(r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,500}-->\s*)*<posts\b")
"""The beginning of the XML of Delicious, Scuttle and Pinboard."""
_LINKDING_NOTES = ("[linkding-notes]", "[/linkding-notes]")
_LINKDING_ARCHIVED = "linkding:bookmarks.archived"
_ROOTS = {
    "bookmarks", "bookmarks bar", "bookmarks toolbar", "bookmarks menu", "bookmarksbar", "bookmarksmenu",
    "other bookmarks", "mobile bookmarks", "favorites bar", "favourites bar", "favorites", "favourites",
    "com.apple.readinglist", "com.apple.reading list",
}  # fmt: skip
"""Folders that a browser has of itself, in lower case."""
_ROOT_MARKS = ("personal_toolbar_folder", "unfiled_bookmarks_folder")
_LINE_ENDS = {"br", "p", "hr"}
_SAVED = ("add_date", "time_added", "date_added")


def is_list(text: str) -> bool:
    """Return whether a text is HTML at all, so that no table is looked for in it."""
    return text.lstrip()[:200].lstrip("\ufeff").startswith("<")


def read_list(text: str) -> SavedFile:
    """Read an HTML file of links. Raises NotSavedPages for any other page."""
    if _POSTS.match(text):
        return _read_posts(text)
    title = _TITLE.search(text[:5000])
    name = title[1].strip().lower() if title else ""
    # Lists without Pocket's title are known by its attribute time_added.
    if "pocket export" in name or (" time_added=" in text and not _BOOKMARKS.search(text)):
        program = _POCKET
    elif "instapaper: export" in name:
        program = _INSTAPAPER
    elif _BOOKMARKS.search(text):
        program = "Pinboard" if "pinboard" in name else "bookmarks"
    else:
        raise NotSavedPages("This HTML or XML file is not a list of bookmarks that a program wrote.")
    reader = _Reader(EntryCollection(program))
    for piece in pieces(text):
        if isinstance(piece, Tag):
            reader.tag(piece)
        else:
            reader.text(piece)
    reader.finish()
    return reader.collection.file()


def _read_posts(text: str) -> SavedFile:
    """Read the posts of Delicious and its like: titles in `description`, notes in `extended`."""
    collection, times = EntryCollection("bookmarks"), Times()
    for piece in pieces(text):
        if isinstance(piece, Tag) and piece.name == "post" and not piece.closes:
            values = {name: plain(value) for name, value in piece.attributes.items()}
            page = FiledPage(
                url=values.get("href", ""),
                title=values.get("description", ""),
                tags=tags_of(values.get("tag", ""), " "),
                note=values.get("extended", ""),
                saved=times.read(values.get("time", "")),
                is_read=values.get("toread") == "no",
            )
            collection.add(page, piece.line)
    return collection.file()


def is_root(name: str) -> bool:
    """Return whether a folder is one that a browser has of itself, which says nothing of its pages."""
    return name.strip().lower() in _ROOTS


@dataclass(slots=True)
class _Reader:
    """The state between two pieces: open folders, and the entry, heading or note whose text comes."""

    collection: EntryCollection
    times: Times = field(default_factory=Times)
    folders: list[str] = field(default_factory=list)
    heading: str = ""
    """The last heading, whose list has not begun."""
    link: Tag | None = None
    place: str = ""
    """Where text belongs: "a", "dd", "h" or nowhere."""
    titles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_root_heading: bool = False

    def text(self, text: str) -> None:
        """Take a text to where it belongs."""
        if self.place == "a":
            self.titles.append(text)
        elif self.place == "dd":
            self.notes.append(text)
        elif self.place == "h":
            self.heading += text

    def tag(self, tag: Tag) -> None:
        """Take a tag. Those of mere looks change nothing."""
        name = tag.name
        if name == "a":
            self._anchor(tag)
        elif name in ("dt", "li"):
            if tag.closes:
                self.place = ""
            else:
                self.finish()
        elif name == "dd":
            self.place = "" if tag.closes or self.link is None else "dd"
        elif name == "dl":
            self._folder(tag)
        elif name[0] == "h" and name[1:].isdigit():
            self._heading(tag)
        elif name in ("ul", "ol"):
            self.finish()
        elif name in _LINE_ENDS and self.place == "dd":
            self.notes.append("\n")

    def finish(self) -> None:
        """Add the entry that is open."""
        link, self.link, self.place = self.link, None, ""
        if link is not None:
            self.collection.add(self._page(link), link.line)
        self.titles.clear()
        self.notes.clear()

    def _anchor(self, tag: Tag) -> None:
        if tag.closes:
            if self.place == "a":
                self.place = ""
            return
        # Notes hold links of their own, which are no bookmarks; those have no date.
        is_dated = any(name in tag.attributes for name in _SAVED)
        if is_dated or (self.place != "dd" and ("href" in tag.attributes or "feedurl" in tag.attributes)):
            self.finish()
            self.link, self.place = tag, "a"

    def _heading(self, tag: Tag) -> None:
        self.finish()
        if tag.closes:
            self.place = ""
            return
        self.heading, self.place = "", "h"
        # The <H1> names the list: "Raindrop.io Bookmarks" became a tag of every page.
        is_own_name = tag.name == "h1" and self.collection.program not in (_POCKET, _INSTAPAPER)
        self.is_root_heading = is_own_name or any(mark in tag.attributes for mark in _ROOT_MARKS)

    def _folder(self, tag: Tag) -> None:
        self.finish()
        if not tag.closes:
            name = " ".join(self.heading.split())
            self.folders.append("" if self.is_root_heading or is_root(name) else name)
            self.heading, self.is_root_heading = "", False
        elif self.folders:
            self.folders.pop()

    def _page(self, link: Tag) -> FiledPage:
        values = link.attributes
        tags = tags_of(values.get("tags", ""))
        description, mark, notes = "".join(self.notes).partition(_LINKDING_NOTES[0])
        if mark:
            self.collection.program = "linkding"
        note = f"{description.strip()}\n\n{notes.partition(_LINKDING_NOTES[1])[0]}"
        # linkding marks what is archived by a tag of its own in this format.
        is_read = values.get("toread") == "0" or _LINKDING_ARCHIVED in tags
        tags = tuple(tag for tag in tags if tag != _LINKDING_ARCHIVED)
        folders, state = tuple(self.folders[-MAX_FOLDERS:]), ""
        if self.collection.program in (_POCKET, _INSTAPAPER):
            state = " ".join(self.heading.split()).lower()
            folders = () if state in ("", "unread", "archive", "read archive", "starred") else (self.heading,)
        return FiledPage(
            url=values.get("href", ""),
            title=twice_unescaped("".join(self.titles)),
            tags=folders + tags,
            note=note.strip(),
            saved=self.times.read(next((values[name] for name in _SAVED if name in values), "")),
            is_read=is_read or state in ("archive", "read archive"),
            is_starred=state == "starred",
        )
