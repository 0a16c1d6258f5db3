"""Stories in the database: matching, joining and taking apart. No article is deleted."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import lru_cache

from django.db import transaction
from django.db.models import Count, Q
from django.utils.html import strip_tags

from articles.enrichment.fingerprints import resemblance, shingles
from articles.enrichment.models import Enrichment, Story
from articles.enrichment.sameness import (
    WINDOW_DAYS,
    StoryCandidate,
    min_likeness,
    numbers,
    same_address,
    same_text,
)
from articles.enrichment.words import terms_of, words
from articles.models import Article
from articles.personal.versions import touch_articles

MAX_COMPARED = 12
"""Candidates whose texts are compared: those with the most similar fingerprints."""
MAX_CANDIDATES = 500
LIKELY = 0.35
"""The estimated Jaccard index from which two texts are compared."""
OWN_CHARACTERS, MAX_OWN_MARKUP = 4_000, 20_000
"""Characters of an entry's text that are compared, and of its HTML that are read for them."""
Reason = Enrichment.Reason


def candidate(row: Enrichment, *, has_own: bool = False) -> StoryCandidate:
    """Return the compared features of an article, read from its row; `own` costs most, and is asked for."""
    article, own = row.article, frozenset[str]()
    if has_own:
        own = _own_words((article.content or article.summary)[:MAX_OWN_MARKUP], row.language)
    title_words = words(article.title, row.language)
    return StoryCandidate(
        feed=article.feed_id,
        title=frozenset(terms_of(title_words, row.language) or title_words),
        numbers=numbers(article.title),
        own=own,
        address=row.address,
    )


@lru_cache(256)
def _own_words(markup: str, language: str) -> frozenset[str]:
    """Return the words of an entry's HTML: many of a batch are compared with the same few."""
    return frozenset(words(strip_tags(markup)[:OWN_CHARACTERS], language))


def text_of(row: Enrichment) -> frozenset[int]:
    """Return the shingles of the article's text."""
    return _shingles(row.article.text, row.language)


@lru_cache(64)
def _shingles(text: str, language: str) -> frozenset[int]:
    """Return the shingles of a text: many of a batch are compared with the same few."""
    return shingles(words(text, language))


def join(row: Enrichment, *, is_alone: bool) -> None:
    """Find the story of an enriched article anew: join the most similar article's story, or begin one with
    it.

    Sets `story`, `reason` and `similarity`, and saves them for the other article when a story begins. The
    caller holds the lock on stories, and says whether the article is alone on its page
    (`alone_on_their_pages`). An article that a person took out stays alone.
    """
    if row.reason == Reason.APART:
        return
    row.story_id, row.reason, row.similarity = None, Reason.ALONE, 0.0
    match = _best_match(row) if is_alone else None
    if match is not None:
        member, row.reason, row.similarity = match
        if member.story_id is None:
            member.story = Story.objects.create()
            member.reason, member.similarity = row.reason, row.similarity
            member.save(update_fields=["story", "reason", "similarity"])
        row.story_id = member.story_id


def tidy(stories: Iterable[int]) -> None:
    """Delete stories with fewer than two members. Their members stand alone."""
    with_sizes = Story.objects.filter(pk__in=set(stories)).annotate(size=Count("members"))
    lonely = list(with_sizes.filter(size__lt=2).values_list("pk", flat=True))
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
    """Take all members out of a story for good. Returns their number."""
    members = list(story.members.values_list("pk", flat=True))
    count = story.members.update(story=None, reason=Reason.APART, similarity=0.0)
    story.delete()
    touch_articles(members)
    return count


@transaction.atomic
def allow(row: Enrichment) -> None:
    """Allow an article that was taken out to join a story again."""
    Enrichment.objects.filter(pk=row.pk, reason=Reason.APART).update(
        reason=Reason.ALONE, state=Enrichment.State.WAITING, attempts=0
    )


def _best_match(row: Enrichment) -> tuple[Enrichment, str, float] | None:
    neighbours = _by_address(row)
    own = candidate(row, has_own=True) if neighbours else None
    matches = [
        (1.0, -neighbour.pk, neighbour, Reason.ADDRESS)
        for neighbour in neighbours
        if own is not None and same_address(own, candidate(neighbour, has_own=True))
    ]
    if not matches and (neighbours := _by_bands(row)):
        candidate_of_row = candidate(row)
        thresholds = (
            (neighbour, min_likeness(candidate_of_row, candidate(neighbour))) for neighbour in neighbours
        )
        likely = [(neighbour, threshold) for neighbour, threshold in thresholds if threshold is not None]
        text = text_of(row) if likely else frozenset()
        likenesses = (
            (same_text(text, text_of(neighbour), threshold), neighbour) for neighbour, threshold in likely
        )
        matches = [
            (likeness, -neighbour.pk, neighbour, Reason.TEXT)
            for likeness, neighbour in likenesses
            if likeness
        ]
    if not matches:
        return None
    likeness, _, neighbour, reason = max(matches, key=lambda match: match[:2])
    return neighbour, reason, likeness


def _by_address(row: Enrichment) -> list[Enrichment]:
    """Return articles of other feeds with the same canonical address."""
    if row.address is None:
        return []
    alike = Enrichment.objects.filter(address=row.address).exclude(pk=row.pk).exclude(reason=Reason.APART)
    others = alike.exclude(article__feed=row.article.feed_id).select_related("article").order_by("pk")
    return alone_on_their_pages(others[:MAX_CANDIDATES])[:MAX_COMPARED]


def _by_bands(row: Enrichment) -> list[Enrichment]:
    """Return articles of other feeds within WINDOW_DAYS that have similar fingerprints, most similar first.

    Excludes articles of the same page, because they have the page's text, whatever their entries say.
    """
    if not row.bands:
        return []
    window = timedelta(days=WINDOW_DAYS)
    when = Q(article__published__range=(row.article.published - window, row.article.published + window))
    others = Enrichment.objects.filter(when, bands__overlap=row.bands).exclude(pk=row.pk)
    others = others.exclude(article__feed=row.article.feed_id).exclude(reason=Reason.APART)
    if row.article.page_id is not None:
        others = others.filter(Q(article__page__isnull=True) | ~Q(article__page=row.article.page_id))
    signatures = others.order_by("-pk").values_list("pk", "signature")[:MAX_CANDIDATES]
    estimates = [(resemblance(bytes(row.signature), bytes(signature)), -pk) for pk, signature in signatures]
    keys = [-pk for likeness, pk in sorted(estimates, reverse=True)[:MAX_COMPARED] if likeness >= LIKELY]
    return alone_on_their_pages(Enrichment.objects.filter(pk__in=keys).select_related("article"))


def alone_on_their_pages(rows: Iterable[Enrichment]) -> list[Enrichment]:
    """Return the articles that share their page with no other article of their feed.

    Entries that share a page are comments or notes on a front page: they have its address and text, but are
    not that page. Entries whose address has a fragment are excluded, too.
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
