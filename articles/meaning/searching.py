"""Searches by words and by meaning at once: full-text rank and nearest vectors, fused."""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from articles.listing import RANKED, by_rank
from articles.meaning.calls import ask_vectors
from articles.meaning.fusion import fused
from articles.meaning.models import QuestionVector
from articles.meaning.program import EmbeddingReport
from articles.meaning.vectors import literal, nearest, vector_table
from articles.models import Article
from articles.operators import split_operators
from crawler.text.keys import digest_of_bytes
from crawler.text.search import parse_search

QUERY_SECONDS = 1.5
REST_SECONDS = 30.0
"""Time for which a model that was late or failed is not asked again by this process: searches go on."""
MIN_CHARACTERS = 3
MAX_DISTANCE = 0.8
"""Cosine distance beyond which nothing is found: 1 is what two texts without anything in common have."""
_EXACT = '"“”„‟«»'

_askers = concurrent.futures.ThreadPoolExecutor(max_workers=4, thread_name_prefix="meaning")
_resting = {"until": 0.0}


@dataclass(frozen=True, slots=True)
class HybridHits:
    """Keys of articles, the best first, and those that the words alone had not found."""

    keys: list[int]
    by_meaning: frozenset[int]


def hybrid(
    words: str,
    newest_matches: Sequence[int],
    matches: QuerySet[Article],
    candidates: QuerySet[Article],
    *,
    limit: int = RANKED,
) -> HybridHits:
    """Return the articles that a search finds by its words and by meaning, the best first.

    `newest_matches` are the newest of its `matches` by words; `candidates` are the articles that all its
    operators and filters leave, whatever words they have. Without vectors, or where the model does not answer
    in time, the result is what is found by words.
    """
    ranked = list(by_rank(Article.objects.filter(id__in=newest_matches), words).values_list("pk", flat=True))
    near = _near(words, candidates)
    keys = fused(ranked, near)[:limit] if near else ranked
    by_meaning = frozenset(near) - frozenset(newest_matches)
    if by_meaning and len(newest_matches) >= RANKED:  # there may be older matches
        by_meaning -= frozenset(matches.filter(pk__in=by_meaning).order_by().values_list("pk", flat=True))
    return HybridHits(keys, by_meaning)


def _near(words: str, candidates: QuerySet[Article]) -> list[int]:
    """Return the keys of the candidates nearest to the words of a search; none if anything fails."""
    plain = " ".join(split_operators(words)[0].split())
    if not settings.EMBEDDINGS_URL or not has_meaning(plain):
        return []
    try:
        with transaction.atomic():  # so that the request can go on after an error
            table = vector_table()
            vector = vector_of(plain) if table and table.model == settings.EMBEDDINGS_MODEL else ""
            if not table or not vector or vector.count(",") + 1 != table.size:
                return []
            return [key for key, distance in nearest(vector, candidates) if distance <= MAX_DISTANCE]
    except DatabaseError:  # the table is made anew, for another model
        return []


def has_meaning(plain: str) -> bool:
    """Return whether words are searched by meaning: those in quotation marks, with a minus or OR are not.

    Who writes these wants the words themselves.
    """
    search = parse_search(plain)
    is_exact = bool(search.excluded) or len(search.alternatives) != 1 or any(sign in plain for sign in _EXACT)
    return len(plain) >= MIN_CHARACTERS and not is_exact


def vector_of(plain: str) -> str:
    """Return the vector of a search's words, which is kept; "" if the model does not answer in time."""
    key = digest_of_bytes(msgspec.json.encode([settings.EMBEDDINGS_MODEL, plain.casefold()]))
    cached_vector = QuestionVector.objects.filter(pk=key).values_list("vector", flat=True).first()
    if cached_vector is not None:
        return cached_vector
    if time.monotonic() < _resting["until"]:
        return ""
    report = _asked_in_time(plain)
    if report is None or report.state != "done":
        _resting["until"] = time.monotonic() + REST_SECONDS
        return ""
    vector = literal(report.vectors[0]) or ""
    row = QuestionVector(digest=key, vector=vector, created=datetime.now(UTC))
    QuestionVector.objects.bulk_create([row], ignore_conflicts=True)
    return vector


def _asked_in_time(plain: str) -> EmbeddingReport | None:
    """Ask for a vector. Returns None after QUERY_SECONDS: a process that asks may have to be started."""
    asking = _askers.submit(ask_vectors, [plain], QUERY_SECONDS)
    try:
        return asking.result(QUERY_SECONDS)
    except concurrent.futures.TimeoutError:
        asking.cancel()
        return None
