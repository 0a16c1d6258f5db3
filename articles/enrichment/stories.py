"""Stories in the database: matching, joining and taking apart. No article is deleted."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from django.db import connection, transaction
from django.db.models import Count
from django.utils.html import strip_tags

from articles.enrichment.fingerprints import shingles
from articles.enrichment.models import Enrichment, Story
from articles.enrichment.neighbours import Neighbours
from articles.enrichment.sameness import (
    StoryCandidate,
    min_likeness,
    numbers,
    same_address,
    same_text,
)
from articles.enrichment.words import terms_of, words
from articles.personal.versions import touch_articles

OWN_CHARACTERS, MAX_OWN_MARKUP = 4_000, 20_000
"""Characters of an entry's text that are compared, and of its HTML that are read for them."""
Reason = Enrichment.Reason
_LOCK = 0x466E7269
"""The advisory lock under which counts, classifier and stories are written."""


def candidate(row: Enrichment, *, has_own: bool = False) -> StoryCandidate:
    """Return the compared features of an article, read from its row; `own` is costly: only with `has_own`."""
    article, own_words = row.article, frozenset[str]()
    if has_own:
        own_words = _own_words((article.content or article.summary)[:MAX_OWN_MARKUP], row.language)
    title_words, title_numbers = _of_title(article.title, row.language)
    return StoryCandidate(
        feed=article.feed_id,
        title=title_words,
        numbers=title_numbers,
        own=own_words,
        address=row.address,
    )


@lru_cache(1024)
def _of_title(title: str, language: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the words and the numbers of a title."""
    title_words = words(title, language)
    return frozenset(terms_of(title_words, language) or title_words), numbers(title)


@lru_cache(256)
def _own_words(markup: str, language: str) -> frozenset[str]:
    """Return the words of an entry's HTML: many of a batch are compared with the same few."""
    return frozenset(words(strip_tags(markup)[:OWN_CHARACTERS], language))


def text_of(row: Enrichment) -> frozenset[int]:
    """Return the shingles of the article's text."""
    return _shingles(row.article.text, row.language)


@lru_cache(256)
def _shingles(text: str, language: str) -> frozenset[int]:
    """Return the shingles of a text: many of a batch are compared with the same few."""
    return shingles(words(text, language))


def join(row: Enrichment, neighbours: Neighbours, *, is_alone: bool) -> None:
    """Find the story of an enriched article anew: join the most similar article's story, or begin one with
    it.

    Sets `story`, `reason` and `similarity`, and saves them for the other article when a story begins. The
    caller holds the lock on stories, and says whether the article is alone on its page
    (`alone_on_their_pages`). An article that a person took out stays alone. `neighbours` are those of the
    batch.
    """
    if row.reason == Reason.APART:
        return
    row.story_id, row.reason, row.similarity = None, Reason.ALONE, 0.0
    match = _best_match(row, neighbours) if is_alone else None
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


def lock() -> None:
    """Wait until nobody else writes stories, counts or the classifier, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


@transaction.atomic
def take_out(row: Enrichment) -> None:
    """Take one article out of its story, for good."""
    lock()
    story = row.story_id
    Enrichment.objects.filter(pk=row.pk).update(story=None, reason=Reason.APART, similarity=0.0)
    if story is not None:
        tidy([story])
    touch_articles([row.pk])


@transaction.atomic
def take_apart(story: Story) -> int:
    """Take all members out of a story for good. Returns their number."""
    lock()
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


def _best_match(row: Enrichment, neighbours: Neighbours) -> tuple[Enrichment, str, float] | None:
    with_address = neighbours.by_address(row)
    own_candidate = candidate(row, has_own=True) if with_address else None
    matches = [
        (1.0, -neighbour.pk, neighbour, Reason.ADDRESS)
        for neighbour in with_address
        if own_candidate is not None and same_address(own_candidate, candidate(neighbour, has_own=True))
    ]
    if not matches and (similar := neighbours.by_text(row)):
        candidate_of_row = candidate(row)
        thresholds = (
            (neighbour, min_likeness(candidate_of_row, candidate(neighbour))) for neighbour in similar
        )
        likely = [(neighbour, threshold) for neighbour, threshold in thresholds if threshold is not None]
        neighbours.load_texts(neighbour for neighbour, _ in likely)
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
