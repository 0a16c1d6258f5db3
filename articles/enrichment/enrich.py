"""Enrichment of waiting articles in batches: keywords, category, summary and story.

A batch is one transaction under row locks, so that it may die or run twice. Results of older versions of the
components are set to waiting again (`renew`). Locks are taken in one order everywhere: hosts, feeds,
articles, pages, then rows that refer to articles, `articles.personal.versions.touch` last; rows of one table
by their keys. Enrichment locks the other articles of a story late, so it waits only briefly for locks and
retries.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.db import DatabaseError, connection, transaction
from django.db.models import F

from articles.enrichment import (
    categories,
    fingerprints,
    keywords,
    sameness,
    stories,
    summaries,
    topics,
)
from articles.enrichment.counting import count
from articles.enrichment.models import Classifier, Enrichment
from articles.enrichment.neighbours import Neighbours, alone_on_their_pages
from articles.enrichment.words import VERSION as WORDS
from articles.enrichment.words import primary, sentences, terms, terms_of, words
from articles.models import Article
from articles.personal.marking import mark_stories_read
from articles.personal.versions import touch
from crawler.database.bulk import update_rows
from crawler.database.transactions import passing, retried
from crawler.fetching.http.urls import BadUrl, page_key
from crawler.isolation import memory
from crawler.reading.pages.language import language_of
from crawler.text.keys import digest
from feeds.categories import all_paths

log = logging.getLogger(__name__)

# A batch holds its texts and fingerprints at once.
AT_ONCE = 10 if memory.is_small() else 50
HEARD = 4_000
"""Characters of the text used to detect the language of an article that declares none."""
MAX_ATTEMPTS = 3
KILLED = "its worker ended in the middle, several times"
VERSIONS = " ".join(
    (
        f"words{WORDS}", f"keywords{keywords.VERSION}", f"categories{categories.VERSION}",
        f"topics{topics.VERSION}",
        f"summaries{summaries.VERSION}", f"fingerprints{fingerprints.VERSION}", f"stories{sameness.VERSION}",
    )
)  # fmt: skip
"""Versions of the components, stored with every enrichment."""
_PATIENCE = "500ms"
"""Lock timeout for rows that another transaction holds."""
_WRITTEN = (
    "state", "attempts", "failure", "versions", "language", "keywords", "terms", "category",
    "category_source", "category_reason", "confidence", "summary", "counted", "trained", "at",
)  # fmt: skip


@dataclass(slots=True, eq=False)
class _Reading:
    """An article during enrichment: its row, known category, term frequencies and language tag.

    `label` is empty for an article whose category has to be guessed. `reason` is the tag that means it.
    """

    row: Enrichment
    label: str
    reason: str = ""
    frequency: dict[str, float] = field(default_factory=dict)
    tag: str = ""


_COMPARED = ("address", "shingles", "signature", "bands", "story", "reason", "similarity")


def enrich(now: datetime, limit: int = AT_ONCE) -> int:
    """Enrich up to `limit` waiting articles, the newest first. Returns the number claimed."""
    keys = _claim(limit)
    try:
        retried(_make, keys, now)
    # A lock that was not free in _PATIENCE: whoever stores articles goes first.
    except DatabaseError as error:
        if not passing(error):
            raise
        # Lock conflicts say nothing about these articles: do not count the attempt.
        Enrichment.objects.filter(pk__in=keys, attempts__gt=0).update(attempts=F("attempts") - 1)
        return 0
    return len(keys)


@transaction.atomic
def _make(keys: Sequence[int], now: datetime) -> None:
    """Enrich the articles that no other worker has locked."""
    rows = _take(keys)
    names = {key: path[-1] for key, path in sorted(all_paths().items())} if rows else {}
    readings = [_Reading(row, *_label(row.article, names)) for row in rows]
    enriched = [reading for reading in readings if _read(reading)]
    failed = [reading.row for reading in readings if reading not in enriched]
    if enriched:
        # One batch at a time joins stories, or two would make two stories of the same event.
        stories.lock()
        with connection.cursor() as cursor:
            # Stories take hold of other articles' enrichments late and in any order: whoever stores articles
            # goes first, before PostgreSQL looks for a deadlock (after a second).
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_PATIENCE])
        counted = count(
            (reading.row.language, list(reading.frequency), reading.row.counted != WORDS)
            for reading in enriched
        )
        previous_stories = [reading.row.story_id for reading in enriched if reading.row.story_id]
        _categorise(enriched)
        rows = [reading.row for reading in enriched]
        alone = {row.pk for row in alone_on_their_pages(rows)}
        neighbours = Neighbours(rows, alone)
        for reading in enriched:
            row, documents = reading.row, counted[reading.row.language]
            row.keywords = keywords.keywords(reading.frequency, documents, documents[""])
            row.terms = [term for term, _ in row.keywords]
            stories.join(row, neighbours, is_alone=row.pk in alone)
            row.counted, row.versions, row.state = WORDS, VERSIONS, Enrichment.State.DONE
            row.failure, row.attempts, row.at = "", 0, now
        _store_detected_languages(enriched)  # which makes them wait again, so that this comes first
        update_rows(Enrichment, [reading.row for reading in enriched], (*_COMPARED, *_WRITTEN))
        stories.tidy(previous_stories)
        mark_stories_read({reading.row.story_id for reading in enriched if reading.row.story_id})
    update_rows(Enrichment, failed, ("state", "attempts", "failure"))
    touch(reading.row.article.feed_id for reading in enriched)


def enrich_for(seconds: float) -> bool:
    """Enrich for at most `seconds`, outdated articles last. Returns whether work may remain."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not enrich(datetime.now(UTC)) and not renew():
            return False
    return True


def _label(article: Article, names: Mapping[int, str]) -> tuple[str, str]:
    """Return the known category of an article and its tag that means it; `names` are the feeds' categories.

    It is the topic of the article's own tags, else its feed's category. A topic has the name of the first
    feeds' category that means it.
    """
    topic, tag = topics.topic_of(article.categories)
    if not topic:
        return names.get(article.feed.category_id or 0, ""), ""
    own_names = (name for name in names.values() if topics.topic_of([name])[0] == topic)
    return next(own_names, topic), tag[:200]


@transaction.atomic
def renew() -> int:
    """Set up to 1,000 outdated enrichments to waiting. Returns their number."""
    old = Enrichment.objects.outdated(VERSIONS).order_by("-article_id").select_for_update(skip_locked=True)
    rows = Enrichment.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:1000]))
    # The classifier of another version has learned from them, this one has not.
    rows.exclude(versions__contains=f"categories{categories.VERSION} ").update(trained=False)
    return rows.update(state=Enrichment.State.WAITING, attempts=0)


@transaction.atomic
def _claim(limit: int) -> list[int]:
    """Claim waiting rows and count the attempt first, so that a text that kills its worker is retried alone,
    and at most MAX_ATTEMPTS times.
    """
    waiting_rows = Enrichment.objects.waiting().select_for_update(skip_locked=True)
    rows = list(waiting_rows.values_list("pk", "attempts")[:limit])
    if rows and rows[0][1]:
        rows = rows[:1]
    keys = [pk for pk, attempts in rows if attempts < MAX_ATTEMPTS]
    exhausted = [pk for pk, attempts in rows if attempts >= MAX_ATTEMPTS]
    Enrichment.objects.filter(pk__in=keys).update(attempts=F("attempts") + 1)
    Enrichment.objects.filter(pk__in=exhausted).update(state=Enrichment.State.FAILED, failure=KILLED)
    return keys + exhausted


def _take(keys: Sequence[int]) -> list[Enrichment]:
    """Lock and return the enrichments that are free, with their articles: a check-in locks an article before
    its enrichment, and a guessed language is written to the article."""
    rows = Enrichment.objects.waiting().select_for_update(
        skip_locked=True, no_key=True, of=("self", "article")
    )
    joined = rows.filter(pk__in=keys).select_related("article__feed", "article__page")
    return list(
        # Columns of kilobytes to megabytes that nothing here reads.
        joined.defer(
            "article__search", "article__enclosures", "article__details", "article__page__html",
            "article__page__text", "article__page__content", "article__feed__fingerprints",
        )
    )  # fmt: skip


def _read(reading: _Reading) -> bool:
    """Compute words, summary and fingerprint. Returns False when that fails; the row says why."""
    row, article = reading.row, reading.row.article
    try:
        reading.tag = article.language or _guessed_language(article)
        row.language, row.address = primary(reading.tag), _address(row)
        text_words = words(article.text, row.language)
        in_text = terms_of(text_words, row.language)
        reading.frequency = keywords.frequencies(terms(article.title, row.language), in_text)
        # Summaries take the first sentences, so that the rest of a long text needs no segmentation.
        row.summary = summaries.summary(sentences(article.text[:20_000], row.language), article.title)
        print_of_text = fingerprints.fingerprint(fingerprints.shingles(text_words))
    # One article that was made to break ICU must not stop the other 49.
    except Exception as error:  # nothing says what ICU and numpy raise on what was made to break them
        log.exception("article %s cannot be enriched", article.pk)
        row.failure = f"{type(error).__name__}: {error}"[:500]
        row.state = Enrichment.State.FAILED if row.attempts >= MAX_ATTEMPTS else Enrichment.State.WAITING
        return False
    row.shingles, row.signature, row.bands = (
        print_of_text.shingles,
        print_of_text.signature,
        list(print_of_text.bands),
    )
    return True


def _guessed_language(article: Article) -> str:
    """Return the language that the text is in, empty if memory is short: the model takes 75 MB."""
    return "" if memory.is_small() else language_of(f"{article.title}\n{article.text[:HEARD]}")


def _address(row: Enrichment) -> uuid.UUID | None:
    """Return the key of the page's canonical address, None if it is only a site's home page."""
    page = row.article.page
    if page is None:
        return None
    for url in (page.canonical_url, page.url):
        try:
            key = page_key(url)
        except BadUrl:
            continue
        _, _, path = key.partition("://")
        # Publishers whose template names the home page as canonical of every article would make one story of
        # all.
        if path.partition("/")[2].strip("/?"):
            return digest(key)
    return None


def _categorise(readings: Sequence[_Reading]) -> None:
    """Set each category: the known one, which also trains the classifier, else the classifier's guess."""
    # Locked: two workers that learn at the same time would each lose the other's lessons.
    row = Classifier.objects.select_for_update().order_by("pk").first()
    if row is None:
        row = Classifier.objects.create(version=categories.VERSION)
    elif row.version != categories.VERSION:
        # Start again: weights of another version do not fit.
        row.version, row.classes, row.examples, row.weights = categories.VERSION, [], [], b""
        row.save()
        # They were learned by weights that are gone.
        for reading in readings:
            reading.row.trained = False
    classifier = categories.Categories.unpacked(row.classes, row.examples, bytes(row.weights))
    texts = {
        reading.row.pk: categories.example(reading.row.article.title, reading.row.article.text)
        for reading in readings
    }
    examples = [reading for reading in readings if reading.label and not reading.row.trained]
    if examples:
        classifier.learn(
            [texts[reading.row.pk] for reading in examples], [reading.label for reading in examples]
        )
        row.classes, row.examples, row.weights = classifier.classes, classifier.examples, classifier.packed()
        row.save()
    unlabelled = [reading for reading in readings if not reading.label]
    guesses = classifier.guess([texts[reading.row.pk] for reading in unlabelled])
    for reading, (name, confidence) in zip(unlabelled, guesses, strict=True):
        source = Enrichment.Source.LEARNED if name else Enrichment.Source.NONE
        reading.row.category, reading.row.confidence, reading.row.category_source = name, confidence, source
        reading.row.category_reason = ""
    for reading in readings:
        if reading.label:
            reading.row.category, reading.row.confidence, reading.row.trained = reading.label, 1.0, True
            reading.row.category_reason = reading.reason
            is_own = bool(reading.reason)
            reading.row.category_source = Enrichment.Source.TAGS if is_own else Enrichment.Source.FEED


def _store_detected_languages(readings: Sequence[_Reading]) -> None:
    """Write detected languages to articles without a declared language."""
    keys_by_language: defaultdict[str, list[int]] = defaultdict(list)
    for reading in readings:
        if reading.tag and not reading.row.article.language:
            keys_by_language[reading.tag].append(reading.row.pk)
    for tag in sorted(keys_by_language):
        Article.objects.filter(pk__in=keys_by_language[tag], language="").update(language=tag)
