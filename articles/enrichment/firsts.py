"""The first teller of a story, how long the others took, and what each of them adds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from articles.enrichment.models import Enrichment
from articles.models import Article

ADDED = 2
"""Sentences that are shown of what an article adds."""
MAX_SENTENCES = 60
NEW = 0.5
"""Share of a sentence's words that no earlier article has in one sentence, from which it adds something."""
DAYS = 90
MIN_STORIES = 2
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]{2,}")


@dataclass(frozen=True, slots=True)
class FirstTeller:
    """How often a feed told a story first, of how many, and the minutes it took where it did not."""

    feed: int
    name: str
    stories: int
    first: int
    minutes: float


def delays(published: Sequence[datetime]) -> list[float]:
    """Return by how many seconds each article came after the first one."""
    return [max((moment - published[0]).total_seconds(), 0.0) for moment in published]


def additions(texts: Sequence[str]) -> list[list[str]]:
    """Return for each text, in the order of their publication, the sentences that no earlier one has. Pure.

    The first text adds all of it, so that nothing is returned for it.
    """
    earlier_word_sets: list[frozenset[str]] = []
    added: list[list[str]] = []
    for number, text in enumerate(texts):
        # Each sentence is compared with all earlier ones: the square of a long text holds a page up.
        sentences = [part.strip() for part in _SENTENCE.split(text) if len(part.strip()) > 30][:MAX_SENTENCES]
        words = [frozenset(word.casefold() for word in _WORD.findall(sentence)) for sentence in sentences]
        new = [
            sentence
            for sentence, sentence_words in zip(sentences, words, strict=True)
            if number
            and sentence_words
            and all(
                len(sentence_words & earlier_words) < (1 - NEW) * len(sentence_words)
                for earlier_words in earlier_word_sets
            )
        ]
        added.append(new[:ADDED])
        earlier_word_sets += words
    return added


def additions_of(members: Sequence[Enrichment]) -> list[list[str]]:
    """Return what each member of a story adds, in their order; one query."""
    keys = [member.pk for member in members]
    texts = dict(Article.objects.filter(pk__in=keys).values_list("pk", "text"))
    return additions([texts.get(key, "")[:20_000] for key in keys])


def how_often_first(now: datetime) -> list[FirstTeller]:
    """Return the feeds that told a story first most often, in 90 days."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH told AS (
                SELECT made.story_id, article.feed_id, min(article.published) AS at
                FROM enrichment_enrichment AS made JOIN articles_article AS article
                    ON article.id = made.article_id
                WHERE made.story_id IS NOT NULL AND article.published >= %s AND article.owner_id IS NULL
                GROUP BY made.story_id, article.feed_id
            ), ranked AS (
                SELECT *, min(at) OVER (PARTITION BY story_id) AS first,
                    count(*) OVER (PARTITION BY story_id) AS n
                FROM told
            )
            SELECT feed.id, coalesce(nullif(feed.title, ''), feed.url), count(*),
                count(*) FILTER (WHERE at = first),
                coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM at - first))
                    FILTER (WHERE at > first), 0) / 60
            FROM ranked JOIN feeds_feed AS feed ON feed.id = ranked.feed_id
            WHERE n > 1 AND feed.removed IS NULL
            GROUP BY feed.id HAVING count(*) >= %s
            ORDER BY count(*) FILTER (WHERE at = first) DESC, count(*), feed.id LIMIT 100
            """,
            [now - timedelta(days=DAYS), MIN_STORIES],
        )
        return [
            FirstTeller(feed, name, stories, first, float(minutes))
            for feed, name, stories, first, minutes in cursor.fetchall()
        ]
