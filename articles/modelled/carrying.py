"""Answers of language models in archives of subscribers (`articles.personal.archive`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from articles.modelled.chat import MAX_TEXT_BYTES, cleaned
from articles.modelled.checking import CheckedAnswer
from articles.modelled.kinds import KINDS, english_name
from articles.modelled.models import CHECKED, ModelTask
from articles.modelled.sources import keys_in
from articles.models import Article, Subscriber
from crawler.text.characters import one_line
from crawler.text.keys import digest, digest_of_bytes

MAX_ANSWERS = 10_000
MAX_NAMED, MAX_SENTENCES = 100, 1_000


class AnswerRow(msgspec.Struct, frozen=True):
    """An answer in `answers.json`, and the article that it is about.

    Answers from several articles have the `question`, the `named` articles (address of the feed, identity) in
    the order of their numbers, and the sentences as they were checked.
    """

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
    question: str = ""
    named: list[tuple[str, str]] = []
    checked: CheckedAnswer | None = None


def carried_answers(subscriber: Subscriber) -> Iterator[AnswerRow]:
    """Yield the answers that a subscriber has got, the oldest first."""
    rows = ModelTask.objects.filter(subscriber=subscriber, state=ModelTask.State.DONE)
    rows = rows.exclude(kind="selectors").select_related("article__feed")
    rows = rows.only(
        "kind", "language", "model", "answer", "finished", "is_cut", "subject", "article__identity",
        "article__url", "article__title", "article__feed__url",
    )  # fmt: skip
    for row in rows.order_by("id").iterator(chunk_size=500):
        article, subject = row.article, row.subject
        yield AnswerRow(
            kind=row.kind,
            language=row.language,
            model=row.model,
            answer=row.answer,
            finished=row.finished,
            feed_url=article.feed.url if article else "",
            identity=article.identity if article else "",
            url=article.url if article else "",
            title=article.title if article else "",
            is_cut=row.is_cut,
            question=str(subject.get("question", "")),
            named=_named(keys_in(subject)),
            checked=msgspec.convert(subject[CHECKED], CheckedAnswer) if CHECKED in subject else None,
        )


def _named(keys: Sequence[int]) -> list[tuple[str, str]]:
    """Return the feeds' addresses and the identities of articles, two empty texts for those deleted."""
    if not keys:
        return []
    rows = Article.objects.filter(pk__in=keys).values_list("pk", "feed__url", "identity")
    references = {pk: (feed_url, identity) for pk, feed_url, identity in rows}
    return [references.get(key, ("", "")) for key in keys]


def take_answers(
    subscriber: Subscriber, rows: Sequence[AnswerRow], feeds: Mapping[str, int], now: datetime
) -> int:
    """Store the answers of an archive to articles that are here, by the keys of feeds. Returns how many.

    What a file says is the answer is nobody else's: its digest is that of no question.
    """
    rows = rows[:MAX_ANSWERS]
    references = [pair for row in rows for pair in ((row.feed_url, row.identity), *row.named[:MAX_NAMED])]
    article_keys = {
        (feeds[feed_url], digest(identity)) for feed_url, identity in references if feed_url in feeds
    }
    articles = Article.objects.filter(
        feed_id__in={feed for feed, _key in article_keys},
        identity_key__in={key for _feed, key in article_keys},
    )
    keys = {(feed, key): pk for pk, feed, key in articles.values_list("pk", "feed_id", "identity_key")}

    def key_of(feed_url: str, identity: str) -> int:
        return keys.get((feeds.get(feed_url, 0), digest(identity)), 0)

    before = subscriber.model_tasks.count()
    tasks = []
    for row in rows:
        article = key_of(row.feed_url, row.identity) if row.identity else None
        answer_text = cleaned(row.answer[:MAX_TEXT_BYTES])
        has_language = not row.language or english_name(row.language)
        if not answer_text or row.kind not in KINDS or not has_language or article == 0:
            continue
        if article is None and not row.named:
            continue
        subject: dict[str, Any] = {}
        if row.named:
            subject["articles"] = [key_of(*pair) for pair in row.named[:MAX_NAMED]]
            subject |= {"question": one_line(row.question, 1_000)} if row.question else {}
            subject |= {CHECKED: msgspec.to_builtins(_fitting(row))} if row.checked else {}
        moment = (
            row.finished if row.finished is None or row.finished.tzinfo else row.finished.replace(tzinfo=UTC)
        )
        tasks.append(
            ModelTask(
                subscriber=subscriber,
                kind=row.kind,
                article_id=article,
                language=row.language,
                digest=digest_of_bytes(
                    msgspec.json.encode(
                        ["file", subscriber.pk, article, row.kind, row.language, row.question, answer_text]
                    )
                ),
                is_cut=row.is_cut,
                subject=subject,
                model=one_line(row.model, 200),
                state=ModelTask.State.DONE,
                created=now,
                due=now,
                finished=min(moment or now, now),
                answer=answer_text,
            )
        )
    ModelTask.objects.bulk_create(tasks, ignore_conflicts=True, batch_size=200)
    return subscriber.model_tasks.count() - before


def _fitting(row: AnswerRow) -> CheckedAnswer:
    """Return the checked answer of a file with clean texts, and without numbers that no article has."""
    checked = row.checked or CheckedAnswer([])
    numbers = range(1, min(len(row.named), MAX_NAMED) + 1)
    return CheckedAnswer(
        [
            msgspec.structs.replace(
                sentence,
                text=cleaned(sentence.text[:MAX_TEXT_BYTES]),
                sources=[number for number in sentence.sources if number in numbers],
            )
            for sentence in checked.sentences[:MAX_SENTENCES]
        ],
        max(checked.taken_out, 0),
    )
