"""Stories in the database: which one an article belongs to, joining, taking apart. No article is deleted."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import Count, Q
from django.utils.html import strip_tags

from articles.enrichment.fingerprints import resemblance, shingles
from articles.enrichment.models import Enrichment, Story
from articles.enrichment.sameness import (
    WINDOW_DAYS,
    StoryCandidate,
    least_likeness,
    numbers,
    same_address,
    same_text,
)
from articles.enrichment.words import terms, words
from articles.models import Article
from articles.personal.versions import touch_articles

MOST_COMPARED = 12
"""Candidates whose texts are read, those with the likest fingerprints."""
MOST_LOOKED_AT = 500
LIKELY = 0.35
"""The estimated Jaccard index from which two texts are compared."""
OWN_CHARACTERS = 4_000
Reason = Enrichment.Reason


def candidate(row: Enrichment) -> StoryCandidate:
    """What is compared of an article, read from its row."""
    article = row.article
    own = strip_tags(article.content or article.summary)[:OWN_CHARACTERS]
    return StoryCandidate(
        feed=article.feed_id,
        title=frozenset(terms(article.title, row.language) or words(article.title, row.language)),
        numbers=numbers(article.title),
        own=frozenset(words(own, row.language)),
        address=row.address,
    )


def text_of(row: Enrichment) -> frozenset[int]:
    """The shingles of its text."""
    return shingles(words(row.article.text, row.language))


def join(row: Enrichment) -> None:
    """Find the story of an enriched article anew: it joins the likest one's, or begins one with it, or none.

    Sets `story`, `reason` and `similarity` and saves those of the other when a story begins. The caller
    holds the lock on stories. One that a person took apart stays alone.
    """
    if row.reason == Reason.APART:
        return
    row.story_id, row.reason, row.similarity = None, Reason.ALONE, 0.0
    best = _best(row)
    if best is not None:
        other, row.reason, row.similarity = best
        if other.story_id is None:
            other.story = Story.objects.create()
            other.reason, other.similarity = row.reason, row.similarity
            other.save(update_fields=["story", "reason", "similarity"])
        row.story_id = other.story_id


def tidy(stories: Iterable[int]) -> None:
    """Delete stories that have no two members any more, their members stay alone."""
    known = Story.objects.filter(pk__in=set(stories)).annotate(size=Count("members"))
    lonely = list(known.filter(size__lt=2).values_list("pk", flat=True))
    if lonely:
        Enrichment.objects.filter(story__in=lonely).exclude(reason=Reason.APART).update(
            reason="", similarity=0
        )
        Story.objects.filter(pk__in=lonely).delete()


@transaction.atomic
def take_out(row: Enrichment) -> None:
    """Take one article out of its story, for good."""
    story = row.story_id
    Enrichment.objects.filter(pk=row.pk).update(story=None, reason=Reason.APART, similarity=0.0)
    if story is not None:
        tidy([story])
    touch_articles([row.pk])


@transaction.atomic
def take_apart(story: Story) -> int:
    """Let all members of a story stand alone, for good; how many there were."""
    members = list(story.members.values_list("pk", flat=True))
    done = story.members.update(story=None, reason=Reason.APART, similarity=0.0)
    story.delete()
    touch_articles(members)
    return done


@transaction.atomic
def allow(row: Enrichment) -> None:
    """Take back that an article stands alone: it may join a story again."""
    Enrichment.objects.filter(pk=row.pk, reason=Reason.APART).update(
        reason=Reason.ALONE, state=Enrichment.State.WAITING, attempts=0
    )


def _best(row: Enrichment) -> tuple[Enrichment, str, float] | None:
    if not _alone_on_their_pages([row]):
        return None
    own = candidate(row)
    found = [
        (1.0, -other.pk, other, Reason.ADDRESS)
        for other in _by_address(row)
        if same_address(own, candidate(other))
    ]
    if not found:
        asked = ((other, least_likeness(own, candidate(other))) for other in _by_bands(row))
        likely = [(other, least) for other, least in asked if least is not None]
        text = text_of(row) if likely else frozenset()
        compared = ((same_text(text, text_of(other), least), other) for other, least in likely)
        found = [(likeness, -other.pk, other, Reason.TEXT) for likeness, other in compared if likeness]
    if not found:
        return None
    likeness, _, other, reason = max(found, key=lambda one: one[:2])
    return other, reason, likeness


def _by_address(row: Enrichment) -> list[Enrichment]:
    """Others with its address, of other feeds."""
    if row.address is None:
        return []
    alike = Enrichment.objects.filter(address=row.address).exclude(pk=row.pk).exclude(reason=Reason.APART)
    others = alike.exclude(article__feed=row.article.feed_id).select_related("article").order_by("pk")
    return _alone_on_their_pages(others[:MOST_LOOKED_AT])[:MOST_COMPARED]


def _by_bands(row: Enrichment) -> list[Enrichment]:
    """Others of a fortnight around it with like fingerprints, the likest first.

    Not those with its page: they have the page's text, whatever they say themselves.
    """
    if not row.bands:
        return []
    window = timedelta(days=WINDOW_DAYS)
    when = Q(article__published__range=(row.article.published - window, row.article.published + window))
    others = Enrichment.objects.filter(when, bands__overlap=row.bands).exclude(pk=row.pk)
    others = others.exclude(article__feed=row.article.feed_id).exclude(reason=Reason.APART)
    if row.article.page_id is not None:
        others = others.filter(Q(article__page__isnull=True) | ~Q(article__page=row.article.page_id))
    signatures = others.order_by("-pk").values_list("pk", "signature")[:MOST_LOOKED_AT]
    likely = [(resemblance(bytes(row.signature), bytes(other)), -pk) for pk, other in signatures]
    keys = [-pk for likeness, pk in sorted(likely, reverse=True)[:MOST_COMPARED] if likeness >= LIKELY]
    return _alone_on_their_pages(Enrichment.objects.filter(pk__in=keys).select_related("article"))


def _alone_on_their_pages(rows: Iterable[Enrichment]) -> list[Enrichment]:
    """Without articles that share their page with another of their feed: comments, notes on a front page.

    They are not that page, though they have its address and its text; no more is what stands at a fragment.
    """
    rows = [row for row in rows if "#" not in row.article.url]
    shared = {
        (feed, page)
        for feed, page in Article.objects.filter(page__in={row.article.page_id for row in rows} - {None})
        .values_list("feed_id", "page_id")
        .annotate(entries=Count("pk"))
        .filter(entries__gt=1)
        .values_list("feed_id", "page_id")
    }
    return [row for row in rows if (row.article.feed_id, row.article.page_id) not in shared]
