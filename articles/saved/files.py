"""Files in which people bring the pages that they saved in other programs. Pure.

A file is known by its content, not by its name: zip, JSON, HTML or a table. The formats and their sources
are in `articles.saved.formats`.
"""

from __future__ import annotations

from articles.saved.formats.archives import is_archive, read_archive
from articles.saved.formats.bookmarks import is_list, read_list
from articles.saved.formats.documents import is_document, read_document
from articles.saved.formats.pages import FiledPage, NotSavedPages, SavedFile, SavedHighlight, SavedProblem
from articles.saved.formats.tables import read_table
from articles.saved.formats.values import text_of

__all__ = ["FiledPage", "NotSavedPages", "SavedFile", "SavedHighlight", "SavedProblem", "read_saved"]


def read_saved(data: bytes, name: str = "") -> SavedFile:
    """Read the saved pages of another program's export, each address once.

    Takes exports of Pocket, Instapaper, Wallabag, Omnivore, Readwise, Karakeep, linkding, Linkwarden,
    Raindrop, Readeck, Pinboard, Matter, Delicious and browsers, tables and JSON lists with addresses, and
    lists of nothing but addresses. Entries that cannot be taken are problems of the result. `name` is the
    file's, for errors. Raises NotSavedPages for a file of no known program, and for a damaged or too large
    one.
    """
    try:
        return read_archive(data, _read_text) if is_archive(data) else _read_text(data, name)
    except NotSavedPages as error:
        raise NotSavedPages(f"{name}: {error}" if name else str(error)) from error


def _read_text(data: bytes, _path: str) -> SavedFile:
    text = text_of(data)
    if not text.strip():
        raise NotSavedPages("This file is empty.")
    if is_document(text):
        return read_document(text)
    return read_list(text) if is_list(text) else read_table(text)
