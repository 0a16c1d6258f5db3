"""Filling: articles without a vector get one, batch by batch, the newest first."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max, Q

from articles.meaning.calls import ask_vectors
from articles.meaning.embedding import NO_VECTORS
from articles.meaning.models import QuestionVector, VectorFilling
from articles.meaning.program import EmbeddingReport
from articles.meaning.vectors import (
    NoVectorsError,
    VectorTable,
    ensure_vectors,
    extension_problem,
    literal,
    store_vectors,
    vector_table,
    without_vectors,
)
from articles.modelled.models import ModelTask
from articles.models import Article

BATCH = 32
BATCH_SECONDS = 60.0
WORK_SECONDS = 120.0
"""Time after which a run ends, so that others get the worker."""
LEASE = timedelta(seconds=WORK_SECONDS + 2 * BATCH_SECONDS)
FIRST_PAUSE, MAX_PAUSE = timedelta(minutes=1), timedelta(hours=6)
COMPLETE_MARGIN = 1_000
"""Keys below the newest that are looked at again: an article may be stored after one with a later key."""
MAX_QUESTIONS = 10_000
"""Searches whose vectors are kept."""


def is_due(now: datetime) -> bool:
    """Return whether there are articles without a vector, no pause, and no process that is at it."""
    row = VectorFilling.objects.first()
    if row is None:
        return Article.objects.exists()
    if (row.leased_until and row.leased_until > now) or (row.not_before and row.not_before > now):
        return False
    return bool(without_vectors(_begin(row), 1))


def fill(now: datetime) -> bool:
    """Give vectors to articles until none is without, people's questions wait, or time is over.

    Returns whether to go on at once. After a failure there is a pause, which grows with each one.
    """
    row = _claim(now)
    if row is None:
        return False
    until = time.monotonic() + WORK_SECONDS
    try:
        while time.monotonic() < until:
            if settings.MODEL_URL and ModelTask.objects.due(datetime.now(UTC)).exists():
                return False  # The next tick goes on.
            if not _fill_batch(row):
                return False
        return True
    finally:
        VectorFilling.objects.filter(pk=row.pk, leased_until=row.leased_until).update(leased_until=None)


def forget_questions() -> None:
    """Delete the vectors of old searches."""
    newest = QuestionVector.objects.order_by("-created").values("pk")[:MAX_QUESTIONS]
    QuestionVector.objects.exclude(pk__in=newest).delete()


def trouble() -> tuple[datetime | None, str]:
    """Return since when and why articles get no vectors; the reason is "" where they do."""
    if problem := extension_problem():
        return None, problem
    row = VectorFilling.objects.filter(failures__gte=3).first()
    return (row.failing_since, row.failure) if row else (None, "")


@transaction.atomic
def _claim(now: datetime) -> VectorFilling | None:
    """Take the filling for this process, None if another is at it or there is a pause."""
    row, _ = VectorFilling.objects.get_or_create(pk=1)
    row.leased_until = now + LEASE
    is_free = (Q(leased_until=None) | Q(leased_until__lte=now)) & (
        Q(not_before=None) | Q(not_before__lte=now)
    )
    is_taken = VectorFilling.objects.filter(is_free, pk=1).update(leased_until=row.leased_until)
    return row if is_taken else None


def _begin(row: VectorFilling) -> int:
    """Return the key up to which articles need no look, 0 if the table is not that of the model."""
    table = vector_table()
    return row.complete_until if table and table.model == settings.EMBEDDINGS_MODEL else 0


def _fill_batch(row: VectorFilling) -> bool:
    """Give vectors to one batch. Returns False if there is nothing left, or it failed."""
    if problem := extension_problem():
        _fail(row, problem)
        return False
    table = vector_table()
    if table and table.model != settings.EMBEDDINGS_MODEL:
        return _change_model(row, table)
    newest = Article.objects.aggregate(key=Max("id"))["key"] or 0
    # After failures less is asked for: one article that a model refuses shall not keep the others from it.
    limit = (BATCH, 8, 1)[min(row.failures, 2)]
    rows = without_vectors(_begin(row), limit)
    if not rows:
        row.complete_until = max(newest - COMPLETE_MARGIN, 0)
        row.save(update_fields=["complete_until"])
        return False
    report = ask_vectors([f"{title}\n{text}".strip() for _key, title, text in rows], BATCH_SECONDS)
    return _settle(row, [key for key, _title, _text in rows], report)


def _change_model(row: VectorFilling, table: VectorTable) -> bool:
    """Make the table anew for another model, as soon as that one answers."""
    report = ask_vectors([settings.EMBEDDINGS_MODEL], BATCH_SECONDS)
    if report.state != "done" or not report.vectors[0]:
        _fail(row, report.detail, report.wait)
        return False
    ensure_vectors(settings.EMBEDDINGS_MODEL, len(report.vectors[0]))
    row.complete_until = 0
    row.save(update_fields=["complete_until"])
    return True


def _settle(row: VectorFilling, keys: list[int], report: EmbeddingReport) -> bool:
    if report.state == "refused" and len(keys) == 1 and vector_table():
        store_vectors({keys[0]: None})
    elif report.state != "done":
        _fail(row, report.detail, report.wait)
        return report.state == "refused" and len(keys) > 1
    else:
        size = max(map(len, report.vectors))
        if not size and not vector_table():
            _fail(row, NO_VECTORS)
            return False
        try:
            with transaction.atomic():
                if size and ensure_vectors(settings.EMBEDDINGS_MODEL, size):
                    VectorFilling.objects.filter(pk=row.pk).update(complete_until=0)
                    row.complete_until = 0
                store_vectors(dict(zip(keys, map(literal, report.vectors), strict=True)))
        except NoVectorsError as error:
            _fail(row, error.detail)
            return False
    if row.failures:
        row.failures, row.failing_since, row.failure, row.not_before = 0, None, "", None
        row.save(update_fields=["failures", "failing_since", "failure", "not_before"])
    return True


def _fail(row: VectorFilling, detail: str, wait: float | None = None) -> None:
    now = datetime.now(UTC)
    pause = min(FIRST_PAUSE * 2 ** min(row.failures, 12), MAX_PAUSE)
    row.failures += 1
    row.failing_since = row.failing_since or now
    row.failure = detail
    row.not_before = now + max(pause, min(timedelta(seconds=wait or 0), MAX_PAUSE))
    row.save(update_fields=["failures", "failing_since", "failure", "not_before"])


def vector_count() -> int:
    """Return the number of articles with a vector, as far as PostgreSQL knows without counting."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = to_regclass('article_vector')"
        )
        row = cursor.fetchone()
    return int(row[0]) if row else 0
