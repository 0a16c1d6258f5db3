"""Enrichment: waiting articles get keywords, category, summary and story, some at a time.

A batch is one transaction under row locks, so that it may die or run twice; what was made by older versions
of the components waits again (`renew`). Locks are taken in one order everywhere: hosts, feeds, articles,
pages, then what hangs on articles, `articles.personal.versions.touch` last; rows of one table by their keys.
Enrichment, which finds the other articles of a story late, waits for none of them for long and comes again.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.db import DatabaseError, connection, transaction
from django.db.models import F

from articles.enrichment import categories, fingerprints, keywords, sameness, stories, summaries
from articles.enrichment.counting import count
from articles.enrichment.models import Classifier, Enrichment
from articles.enrichment.words import VERSION as WORDS
from articles.enrichment.words import primary, sentences, terms
from articles.models import Article
from articles.personal.versions import touch
from crawler.database.bulk import update_rows
from crawler.database.transactions import passing, retried
from crawler.http.urls import BadUrl, page_key
from crawler.reading.pages.language import language_of
from crawler.text.keys import digest
from feeds.categories import all_paths

log = logging.getLogger(__name__)

AT_ONCE = 50
HEARD = 4_000
"""Characters from which the language of an article is heard that has none."""
MOST_ATTEMPTS = 3
KILLED = "its worker ended in the middle, several times"
VERSIONS = " ".join(
    (
        f"words{WORDS}", f"keywords{keywords.VERSION}", f"categories{categories.VERSION}",
        f"summaries{summaries.VERSION}", f"fingerprints{fingerprints.VERSION}", f"stories{sameness.VERSION}",
    )
)  # fmt: skip
"""What an enrichment was made by."""
_LOCK = 0x466E7269
"""The advisory lock under which counts, classifier and stories are written."""
_PATIENCE = "500ms"
"""How long enrichment waits for a row that another transaction has."""
_WRITTEN = (
    "state", "attempts", "failure", "versions", "language", "keywords", "terms", "category",
    "category_source", "confidence", "summary", "counted", "trained", "at",
)  # fmt: skip


@dataclass(slots=True, eq=False)
class _Reading:
    """An article while it is worked on: its row, what was read of its words, its feed's category."""

    row: Enrichment
    label: str
    frequency: dict[str, float] = field(default_factory=dict)
    tag: str = ""


_COMPARED = ("address", "shingles", "signature", "bands", "story", "reason", "similarity")


def enrich(now: datetime, most: int = AT_ONCE) -> int:
    """Make waiting enrichments, the newest articles first; how many were taken up."""
    keys = _claim(most)
    try:
        retried(_make, keys, now)
    except DatabaseError as error:
        if not passing(error):
            raise
        # Others were in the way for long: that says nothing of these articles, which wait on.
        Enrichment.objects.filter(pk__in=keys, attempts__gt=0).update(attempts=F("attempts") - 1)
        return 0
    return len(keys)


@transaction.atomic
def _make(keys: Sequence[int], now: datetime) -> None:
    """Enrich those of these articles that nobody else has in hand."""
    rows = _take(keys)
    paths = {key: path[-1] for key, path in all_paths().items()} if rows else {}
    read = [_Reading(row, paths.get(row.article.feed.category_id or 0, "")) for row in rows]
    done = [one for one in read if _read(one)]
    failed = [one.row for one in read if one not in done]
    if done:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            # Stories take hold of other articles' enrichments late and in any order: whoever stores articles
            # goes first, before PostgreSQL looks for a deadlock (after a second).
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_PATIENCE])
        counted = count((one.row.language, list(one.frequency), one.row.counted != WORDS) for one in done)
        before = [one.row.story_id for one in done if one.row.story_id]
        _categorise(done)
        for one in done:
            row, documents = one.row, counted[one.row.language]
            row.keywords = keywords.keywords(one.frequency, documents, documents[""])
            row.terms = [term for term, _ in row.keywords]
            stories.join(row)
            # At once, for the others of the batch are compared with it.
            update_rows(Enrichment, [row], _COMPARED)
            row.counted, row.versions, row.state = WORDS, VERSIONS, Enrichment.State.DONE
            row.failure, row.attempts, row.at = "", 0, now
        _name_languages(done)  # which makes them wait again, so that this comes first
        update_rows(Enrichment, [one.row for one in done], _WRITTEN)
        stories.tidy(before)
    update_rows(Enrichment, failed, ("state", "attempts", "failure"))
    touch(one.row.article.feed_id for one in done)


def enrich_for(seconds: float) -> bool:
    """Enrich for so long at most; whether there may be more. What is outdated comes last."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not enrich(datetime.now(UTC)) and not renew():
            return False
    return True


@transaction.atomic
def renew() -> int:
    """Let a thousand of those that older versions made wait again; how many."""
    old = Enrichment.objects.outdated(VERSIONS).order_by("-article_id").select_for_update(skip_locked=True)
    return Enrichment.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:1000])).update(
        state=Enrichment.State.WAITING, attempts=0
    )


@transaction.atomic
def _claim(most: int) -> list[int]:
    """Count the attempt before it is made: a text that kills its worker is met alone, and not for ever."""
    free = Enrichment.objects.waiting().select_for_update(skip_locked=True)
    rows = list(free.values_list("pk", "attempts")[:most])
    if rows and rows[0][1]:
        rows = rows[:1]
    keys = [pk for pk, attempts in rows if attempts < MOST_ATTEMPTS]
    worn = [pk for pk, attempts in rows if attempts >= MOST_ATTEMPTS]
    Enrichment.objects.filter(pk__in=keys).update(attempts=F("attempts") + 1)
    Enrichment.objects.filter(pk__in=worn).update(state=Enrichment.State.FAILED, failure=KILLED)
    return keys + worn


def _take(keys: Sequence[int]) -> list[Enrichment]:
    """Those of these that are free, locked with their articles: a check-in has an article before its
    enrichment, and a language that was heard is written to the article."""
    rows = Enrichment.objects.waiting().select_for_update(
        skip_locked=True, no_key=True, of=("self", "article")
    )
    joined = rows.filter(pk__in=keys).select_related("article__feed", "article__page")
    return list(
        joined.defer(
            "article__search", "article__enclosures", "article__page__html", "article__page__text",
            "article__feed__fingerprints",
        )
    )  # fmt: skip


def _read(one: _Reading) -> bool:
    """Words, summary and fingerprint of an article; False for one that cannot be read, which says why."""
    row, article = one.row, one.row.article
    try:
        one.tag = article.language or language_of(f"{article.title}\n{article.text[:HEARD]}")
        row.language, row.address = primary(one.tag), _address(row)
        in_text = terms(article.text, row.language)
        one.frequency = keywords.frequencies(terms(article.title, row.language), in_text)
        row.summary = summaries.summary(sentences(article.text[:20_000], row.language), article.title)
        made = fingerprints.fingerprint(stories.text_of(row))
    except Exception as error:  # nothing says what ICU and numpy raise on what was made to break them
        log.exception("article %s cannot be enriched", article.pk)
        row.failure = f"{type(error).__name__}: {error}"[:500]
        row.state = Enrichment.State.FAILED if row.attempts >= MOST_ATTEMPTS else Enrichment.State.WAITING
        return False
    row.shingles, row.signature, row.bands = made.shingles, made.signature, list(made.bands)
    return True


def _address(row: Enrichment) -> uuid.UUID | None:
    """The key of the page's canonical address, if it is one of a page and not of a whole site."""
    page = row.article.page
    if page is None:
        return None
    for url in (page.canonical_url, page.url):
        try:
            key = page_key(url)
        except BadUrl:
            continue
        _, _, path = key.partition("://")
        if path.partition("/")[2].strip("/?"):
            return digest(key)
    return None


def _categorise(done: Sequence[_Reading]) -> None:
    """The feed's category, which the classifier learns from; else what it makes of the words."""
    row = Classifier.objects.select_for_update().order_by("pk").first()
    if row is None:
        row = Classifier.objects.create(version=categories.VERSION)
    elif row.version != categories.VERSION:
        # Begin anew: what another version has learned does not fit this one.
        row.version, row.classes, row.examples, row.weights = categories.VERSION, [], [], b""
        Enrichment.objects.filter(trained=True).update(trained=False)
    known = categories.Categories.unpacked(row.classes, row.examples, bytes(row.weights))
    texts = {one.row.pk: categories.example(one.row.article.title, one.row.article.text) for one in done}
    lessons = [one for one in done if one.label and not one.row.trained]
    if lessons:
        known.learn([texts[one.row.pk] for one in lessons], [one.label for one in lessons])
        row.classes, row.examples, row.weights = known.classes, known.examples, known.packed()
        row.save()
    unlabelled = [one for one in done if not one.label]
    guesses = known.guess([texts[one.row.pk] for one in unlabelled])
    for one, (name, sure) in zip(unlabelled, guesses, strict=True):
        source = Enrichment.Source.LEARNED if name else Enrichment.Source.NONE
        one.row.category, one.row.confidence, one.row.category_source = name, sure, source
    for one in done:
        if one.label:
            one.row.category, one.row.confidence, one.row.trained = one.label, 1.0, True
            one.row.category_source = Enrichment.Source.FEED


def _name_languages(done: Sequence[_Reading]) -> None:
    """Give articles that nobody declared a language for the one that was heard."""
    heard: defaultdict[str, list[int]] = defaultdict(list)
    for one in done:
        if one.tag and not one.row.article.language:
            heard[one.tag].append(one.row.pk)
    for tag in sorted(heard):
        Article.objects.filter(pk__in=heard[tag], language="").update(language=tag)
