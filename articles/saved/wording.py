"""Words about saved pages: for their rows, and for the list as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.models import Mark, Page, Subscriber
from articles.saved.models import Highlight, SavedPage
from feeds.phrases import cause_of


def saved_in_words(subscriber: Subscriber, keys: Sequence[int]) -> dict[int, str]:
    """Return a few words for each of these articles that has something to say, by key; two queries."""
    marks = Highlight.objects.filter(subscriber=subscriber, article__in=keys).order_by().values("article")
    counted = marks.annotate(marks=Count("id"), notes=Count("id", filter=~Q(note="")))
    words = {row["article"]: marks_in_words(row["marks"], row["notes"]) for row in counted}
    rows = SavedPage.objects.filter(subscriber=subscriber, article__in=keys)
    columns = ("article", "note", "article__text_length", "article__page__status", "article__page__failure")
    for key, note, length, status, failure in rows.values_list(*columns):
        state = _state(length, status, failure)
        parts = [words.get(key, ""), _("with a note") if note else "", state]
        words[key] = ", ".join(part for part in parts if part)
    return words


@dataclass(frozen=True, slots=True)
class Saving:
    """How much a person has saved: pages, unread ones, those with notes, and highlights by colour."""

    pages: int
    unread: int
    notes: int
    colors: list[tuple[str, str, int]]
    """Of each colour that is used: its letter, its meaning and its highlights."""


def saving_in_words(subscriber: Subscriber) -> Saving:
    """Count what a person has saved; four queries."""
    pages = subscriber.saved_pages.all()
    read = Exists(Mark.objects.filter(subscriber=subscriber, article=OuterRef("article"), read__isnull=False))
    marks = dict(subscriber.highlights.order_by().values_list("color").annotate(count=Count("id")))
    noted = subscriber.highlights.exclude(note="").values("article").order_by()
    return Saving(
        pages=pages.count(),
        unread=pages.filter(~read).count(),
        notes=pages.filter(~Q(note="") | Q(article__in=noted)).count(),
        colors=[(str(key), str(words), marks[key]) for key, words in Highlight.Color.choices if key in marks],
    )


def marks_in_words(marks: int, notes: int) -> str:
    """Return "3 highlights, 2 notes"."""
    parts = (
        [ngettext("%(count)d highlight", "%(count)d highlights", marks) % {"count": marks}] if marks else []
    )
    if notes:
        parts.append(ngettext("%(count)d note", "%(count)d notes", notes) % {"count": notes})
    return ", ".join(parts)


def _state(length: int, status: str | None, failure: str) -> str:
    """Return why a page has no text, or that it is gone from the web and kept here; "" for neither."""
    if length:
        return ""
    if status == Page.Status.WAITING and not failure:
        return _("its text is on the way")
    return cause_of(failure) if failure else ""
