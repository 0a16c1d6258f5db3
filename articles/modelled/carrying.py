"""Answers of language models in archives of subscribers (`articles.personal.archive`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from articles.modelled.chat import MAX_TEXT_BYTES, cleaned
from articles.modelled.kinds import KINDS, english_name
from articles.modelled.models import ModelTask
from articles.models import Article, Subscriber
from crawler.text.characters import one_line
from crawler.text.keys import digest, digest_of_bytes

MAX_ANSWERS = 10_000


class AnswerRow(msgspec.Struct, frozen=True):
    """An answer in `answers.json`, and the article that it is about."""

    kind: str
    language: str
    model: str
    answer: str
    finished: datetime | None = None
    feed_url: str = ""
    identity: str = ""
    url: str = ""
    title: str = ""
    is_cut: bool = False


def carried_answers(subscriber: Subscriber) -> Iterator[AnswerRow]:
    """Yield the answers that a subscriber has got, the oldest first."""
    columns = (
        "kind", "language", "model", "answer", "finished", "article__feed__url", "article__identity",
        "article__url", "article__title", "is_cut",
    )  # fmt: skip
    rows = ModelTask.objects.filter(subscriber=subscriber, state=ModelTask.State.DONE, article__isnull=False)
    for row in rows.order_by("id").values_list(*columns).iterator(chunk_size=500):
        yield AnswerRow(*row)


def take_answers(
    subscriber: Subscriber, rows: Sequence[AnswerRow], feeds: Mapping[str, int], now: datetime
) -> int:
    """Store the answers of an archive to articles that are here, by the keys of feeds. Returns how many.

    What a file says is the answer is nobody else's: its digest is that of no question.
    """
    wanted = {
        (feeds[row.feed_url], digest(row.identity)): row
        for row in rows[:MAX_ANSWERS]
        if row.feed_url in feeds
    }
    articles = Article.objects.filter(
        feed_id__in={feed for feed, _key in wanted}, identity_key__in={key for _feed, key in wanted}
    )
    keys = {(feed, key): pk for pk, feed, key in articles.values_list("pk", "feed_id", "identity_key")}
    before = subscriber.model_tasks.count()
    made = []
    for row in rows[:MAX_ANSWERS]:
        article = keys.get((feeds.get(row.feed_url, 0), digest(row.identity)))
        answer = cleaned(row.answer[:MAX_TEXT_BYTES])
        has_language = not row.language or english_name(row.language)
        if article is None or not answer or row.kind not in KINDS or not has_language:
            continue
        moment = (
            row.finished if row.finished is None or row.finished.tzinfo else row.finished.replace(tzinfo=UTC)
        )
        made.append(
            ModelTask(
                subscriber=subscriber,
                kind=row.kind,
                article_id=article,
                language=row.language,
                digest=digest_of_bytes(
                    msgspec.json.encode(["file", subscriber.pk, article, row.kind, row.language, answer])
                ),
                is_cut=row.is_cut,
                model=one_line(row.model, 200),
                state=ModelTask.State.DONE,
                created=now,
                due=now,
                finished=min(moment or now, now),
                answer=answer,
            )
        )
    ModelTask.objects.bulk_create(made, ignore_conflicts=True, batch_size=200)
    return subscriber.model_tasks.count() - before
