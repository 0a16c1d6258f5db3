"""Versions of articles: stored when an edit is seen, and read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from articles.edits.deciding import Edit, Standing, edit_of, letters_of, standing
from articles.edits.differences import applied, chained, difference, packed, unpacked
from articles.edits.models import ArticleVersion, PageRecheck
from articles.models import Page
from crawler.reading.inflate import inflated
from crawler.reading.pages.tree import text_of

MAX_VERSIONS = 100
"""Versions of one article; a page that changes on and on is no article."""
MAX_PAGE = 20_000_000
"""Bytes of a page in which sentences are looked for."""
OTHERS = 6
"""Pages of the same site whose lines are taken as its furniture."""


@dataclass(frozen=True, slots=True)
class Text:
    """Headline and text of an article at some time."""

    title: str
    text: str

    @property
    def standing(self) -> Standing:
        """The text as it is compared."""
        return standing(self.title, self.text)


@dataclass(frozen=True, slots=True)
class Sighting:
    """An edit: what showed it (`ArticleVersion.Shown`), when, and since when the text `before` it stood."""

    edit: Edit
    shown_by: str
    before: datetime
    at: datetime


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version with its text."""

    row: ArticleVersion
    text: str


def edit_between(
    old: Text, new: Text, page: Page | None = None, received: tuple[bytes, str] = (b"", "")
) -> Edit | None:
    """Return the edit from one text to another, None for none.

    Other pages of the site tell its furniture; the page as it is stored and as it was `received` now (zlib,
    and its type) tell what was only read in another way.
    """
    before, after = old.standing, new.standing
    edit = edit_of(before, after)
    if edit is None or page is None or edit.kinds == ["headline"]:
        return edit
    pages = _letters(bytes(page.html), page.content_type), _letters(*received)
    return edit_of(before, after, furniture_of(page), pages)


def _letters(packed_body: bytes, content_type: str) -> str:
    """Return the letters of a page as it was received, "" where it is not kept any more."""
    try:
        return letters_of(text_of(inflated(packed_body, MAX_PAGE), content_type)) if packed_body else ""
    except ValueError:
        return ""


def furniture_of(page: Page) -> set[str]:
    """Return the lines of the pages of a site that were read last, without the given one."""
    others = Page.objects.filter(host=page.host_id, status=Page.Status.STORED).exclude(pk=page.pk)
    texts = others.exclude(text="").order_by("-fetched").values_list("text", flat=True)[:OTHERS]
    return {" ".join(line.split()) for text in texts for line in text.splitlines()}


def record(article: int, old: Text, new: Text, sighting: Sighting) -> ArticleVersion | None:
    """Store the version after an edit, and before it the first one if there is none yet.

    The caller holds the article's lock. The same text again is no version: returns None then.
    """
    last = ArticleVersion.objects.filter(article=article).order_by("-number").first()
    if last is None:
        first = Sighting(Edit(), sighting.shown_by, sighting.before, sighting.before)
        last = _stored(None, article, old, first)
    if last.number >= MAX_VERSIONS or _text_of(last) == (new.title, new.text):
        return None
    if last.number > 1 and last.is_whole:
        _shorten(last)
    return _stored(last, article, new, sighting)


def look_soon(pages: Sequence[int], now: datetime) -> None:
    """Bring the next look at these pages forward: their feeds say that the articles were edited."""
    PageRecheck.objects.filter(page__in=pages, due__gt=now).update(due=now)


def versions_of(article: int) -> list[StoredVersion]:
    """Return the versions of an article with their texts, the first one first."""
    return list(_with_texts(ArticleVersion.objects.filter(article=article).order_by("number")))


def proves(versions: Sequence[StoredVersion]) -> bool:
    """Return whether the hashes of an article's versions are those of their texts."""
    before = b""
    for version in versions:
        before = chained(before, _parts(version.row, version.text))
        if before != bytes(version.row.digest):
            return False
    return True


def _with_texts(rows: Iterable[ArticleVersion]) -> Iterator[StoredVersion]:
    text = ""
    for row in rows:
        body = bytes(row.body)
        text = unpacked(body) if row.is_whole else applied(text, body)
        yield StoredVersion(row, text)


def _text_of(row: ArticleVersion) -> tuple[str, str]:
    return row.title, unpacked(bytes(row.body))


def _shorten(last: ArticleVersion) -> None:
    """Store the version that was the last as a difference from the one before it."""
    versions = versions_of(last.article_id)
    last.body = difference(versions[-2].text, versions[-1].text)
    last.is_whole = False
    last.save(update_fields=["body", "is_whole"])


def _stored(last: ArticleVersion | None, article: int, text: Text, sighting: Sighting) -> ArticleVersion:
    edit = sighting.edit
    row = ArticleVersion(
        article_id=article,
        number=last.number + 1 if last else 1,
        seen=max(sighting.at, last.seen) if last else sighting.at,
        shown_by=sighting.shown_by,
        title=text.title,
        body=packed(text.text),
        length=len(text.text),
        kinds=list(edit.kinds),
        words=edit.words,
        added=edit.added,
        removed=edit.removed,
        change=list(edit.change) if edit.change[0] else [],
    )
    row.digest = chained(bytes(last.digest) if last else b"", _parts(row, text.text))
    row.save(force_insert=True)
    return row


def _parts(row: ArticleVersion, text: str) -> list[str]:
    """Return what the hash of a version covers."""
    return [str(row.number), row.seen.isoformat(), row.shown_by, row.title, text]
