"""Highlights in articles: made from a quote, found again in the present text, and shown in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from articles.body import body_of
from articles.models import Article, Subscriber
from articles.personal.labels import label_named
from articles.saved.marks import Marked, Place, find, plain_text, with_marks
from articles.saved.models import MAX_NOTE, MAX_QUOTE, Highlight
from crawler.text.characters import storable
from crawler.web.limits import LimitReached
from feeds.phrases import moment_words

MAX_HIGHLIGHTS = 100_000
"""Highlights of one person."""
MAX_SHOWN = 500
"""Highlights of one article that are marked in it."""


class NoSuchQuote(ValueError):
    """Error for words that are not in an article; the message is a sentence for people."""


def highlights_of(subscriber: Subscriber) -> QuerySet[Highlight]:
    """Return a person's highlights, the newest first, without the long columns of their articles."""
    rows = Highlight.objects.filter(subscriber=subscriber).select_related("article__page", "article__feed")
    return rows.order_by("-created", "-id").defer(
        "article__search", "article__page__html", "article__feed__fingerprints"
    )


def make_highlight(
    subscriber: Subscriber,
    article: Article,
    quote: str,
    *,
    around: tuple[str, str] = ("", ""),
    color: str = Highlight.Color.IMPORTANT,
    note: str = "",
    tags: Collection[str] = (),
) -> Highlight:
    """Store a highlight on words of an article; the same ones again change colour, note and tags.

    `around` is what stands before and after them, which tells them from the same words elsewhere.
    Raises NoSuchQuote for words that are not in the article, and LimitReached.
    """
    passage = storable(quote, MAX_QUOTE).strip()
    place = (place_of(article, passage, around=around) or place_of(article, passage)) if passage else None
    if place is None:
        raise NoSuchQuote(_("These words are not in the article."))
    rows = Highlight.objects.filter(subscriber=subscriber, article=article, quote=passage)
    same = next((row for row in rows[:MAX_SHOWN] if place_of(article, passage, row) == place), None)
    if same is None and subscriber.highlights.count() >= MAX_HIGHLIGHTS:
        raise LimitReached(_("One person can have %(count)d highlights at most.") % {"count": MAX_HIGHLIGHTS})
    row = same or Highlight(subscriber=subscriber, article=article, quote=passage)
    row.start, row.end, row.before, row.after = place.start, place.end, place.before, place.after
    row.color = color if color in Highlight.Color.values else Highlight.Color.IMPORTANT
    row.note = storable(note, MAX_NOTE).strip()
    row.tags = cleaned_tags(tags)
    row.save()
    return row


def cleaned_tags(tags: Collection[str]) -> list[str]:
    """Return tags in order, each once, as labels are spelt."""
    return sorted({label_named(tag) for tag in tags} - {""})


def place_of(
    article: Article, quote: str, row: Highlight | None = None, around: tuple[str, str] = ("", "")
) -> Place | None:
    """Return where words stand in an article's body: in the one that is shown, else in the other one."""
    body = body_of(article)
    for html in dict.fromkeys((body.shown, body.page, body.feed, article.text)):
        text = plain_text(html) if html != article.text else html
        before, after, near = (row.before, row.after, row.start) if row else (*around, 0)
        if text and (place := find(text, quote, before=before, after=after, near=near)) is not None:
            return place
    return None


def fits(row: Highlight) -> bool:
    """Return whether a highlight is still in its article's text."""
    return place_of(row.article, row.quote, row) is not None


def marked_body(body: str, rows: Sequence[Highlight]) -> tuple[str, list[Highlight]]:
    """Return a body with the marks of its highlights, and the highlights that are not in it any more."""
    if not rows:
        return body, []
    text, marks, lost = plain_text(body), [], []
    now, zone = datetime.now(UTC), timezone.get_current_timezone()
    for row in rows[:MAX_SHOWN]:
        place = find(text, row.quote, before=row.before, after=row.after, near=row.start)
        if place is None:
            lost.append(row)
        else:
            about = f"{row.get_color_display()} · {moment_words(row.created, now, zone)}"
            marks.append(Marked(row.pk, place.start, place.end, row.color, row.note, about))
    return with_marks(body, marks), lost
