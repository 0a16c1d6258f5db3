"""Asking: a question about an article becomes a row, or is answered with an answer that is kept."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.body import body_of, text_of
from articles.modelled import prompts
from articles.modelled.kinds import KINDS, ModelKind, english_name
from articles.modelled.models import CHECKED, ModelTask
from articles.modelled.prompts import Prompt
from articles.modelled.tasks import answer_questions
from articles.models import Article, Subscriber
from articles.personal.labels import labels_of
from crawler.engine.chosen import chosen
from crawler.text.keys import digest_of_bytes
from crawler.web.limits import LimitReached

MAX_OPEN = 10
"""Questions of one person that may wait together."""
MAX_LABELS_SENT = 200
DAY = timedelta(days=1)


class CannotAskError(ValueError):
    """Error for a question that cannot be asked; the message is a sentence for people."""


def ask_about(
    subscriber: Subscriber, kind_name: str, article: Article, language: str, now: datetime
) -> ModelTask:
    """Return a person's question about an article, which is asked unless it is open or answered already.

    The article's page is loaded. Raises CannotAskError, LimitReached.
    """
    kind = KINDS.get(kind_name)
    if kind_name == "tags":
        prompt = prompts.tags(article.title, shown_text(article), labels_of(subscriber)[:MAX_LABELS_SENT])
        return ask(subscriber, kind_name, prompt, now, article=article)
    if kind is None or kind.compose is None:
        raise CannotAskError(_("There is no such question."))
    prompt = _prompt_about(kind, kind.compose, article, language)
    return ask(subscriber, kind.name, prompt, now, article=article, language=language)


@transaction.atomic
def ask(
    subscriber: Subscriber,
    kind: str,
    prompt: Prompt,
    now: datetime,
    *,
    article: Article | None = None,
    language: str = "",
    subject: dict[str, object] | None = None,
) -> ModelTask:
    """Return a person's question with this prompt, which is asked unless it is open or answered already.

    An answer that another person's question has got to the same prompt is taken, which counts for no limit.
    Raises LimitReached.
    """
    # One question of a person after the other: two at once would both be within the limit.
    Subscriber.objects.select_for_update().get(pk=subscriber.pk)
    key = digest_of_bytes(msgspec.json.encode([kind, prompt.messages, settings.MODEL_NAME]))
    if row := ModelTask.objects.current().filter(subscriber=subscriber, digest=key).first():
        return row
    row = ModelTask(
        subscriber=subscriber,
        kind=kind,
        article=article,
        language=language,
        subject=subject or {},
        digest=key,
        is_cut=prompt.is_cut,
        model=settings.MODEL_NAME,
        created=now,
        due=now,
    )
    if earlier_task := ModelTask.objects.filter(digest=key, state=ModelTask.State.DONE).first():
        row.state, row.answer, row.finished = ModelTask.State.DONE, earlier_task.answer, earlier_task.finished
        if CHECKED in earlier_task.subject:
            row.subject |= {CHECKED: earlier_task.subject[CHECKED]}
        row.save()
        return row
    _check_limits(subscriber, now)
    row.prompt = prompt.messages
    row.save()
    transaction.on_commit(answer_questions.delay)
    return row


def cancel(row: ModelTask, now: datetime) -> bool:
    """Cancel an open question. Returns False when it had an end already."""
    rows = ModelTask.objects.open().filter(pk=row.pk)
    return bool(rows.update(state=ModelTask.State.CANCELLED, finished=now, leased_until=None, prompt=[]))


def tasks_about(subscriber: Subscriber, article: int) -> list[ModelTask]:
    """Return a person's newest question of each kind and language about an article, the oldest first."""
    rows = ModelTask.objects.filter(subscriber=subscriber, article=article).defer("prompt")
    newest = rows.order_by("kind", "language", "-created", "-id").distinct("kind", "language")
    tasks = [row for row in newest if row.state != ModelTask.State.CANCELLED]
    return sorted(tasks, key=lambda row: (row.created, row.pk))


def recent_failure(now: datetime) -> ModelTask | None:
    """Return the newest question of a day if it and the two before it failed, else None."""
    ended = ModelTask.objects.filter(
        Q(state=ModelTask.State.FAILED) | Q(state=ModelTask.State.DONE, attempts__gt=0),
        finished__gte=now - DAY,
    )
    newest = list(ended.order_by("-finished", "-id").defer("prompt", "answer")[:3])
    is_failing = len(newest) == 3 and all(row.state == ModelTask.State.FAILED for row in newest)
    return newest[0] if is_failing else None


def _prompt_about(
    kind: ModelKind, compose: Callable[[str, str, str], Prompt], article: Article, language: str
) -> Prompt:
    name = english_name(language)
    if (language or kind.needs_language) and not name:
        raise CannotAskError(_("Choose a language."))
    return compose(article.title, shown_text(article), name)


def shown_text(article: Article) -> str:
    """Return the text of an article, whose page is loaded. Raises CannotAskError for one without text."""
    text = text_of(body_of(article).shown).strip() or article.text.strip()
    if not text:
        raise CannotAskError(_("The article has no text here."))
    return text


def _check_limits(subscriber: Subscriber, now: datetime) -> None:
    rows = ModelTask.objects.filter(subscriber=subscriber)
    if rows.open().count() >= MAX_OPEN:
        raise LimitReached(
            ngettext(
                "%(limit)d question of yours waits already. Wait for its answer, or cancel it.",
                "%(limit)d questions of yours wait already. Wait for their answers, or cancel some.",
                MAX_OPEN,
            )
            % {"limit": MAX_OPEN}
        )
    daily_limit = chosen("MODEL_DAILY_ANSWERS")
    was_asked = Q(attempts__gt=0) | Q(state__in=[ModelTask.State.WAITING, ModelTask.State.RUNNING])
    if rows.filter(was_asked, created__gt=now - DAY).count() >= daily_limit:
        raise LimitReached(
            ngettext(
                "You can ask the model for %(limit)d answer in 24 hours. Try it again tomorrow.",
                "You can ask the model for %(limit)d answers in 24 hours. Try it again tomorrow.",
                daily_limit,
            )
            % {"limit": daily_limit}
        )
