"""Morning briefs of a language model in digests: asked for before the digest's time, never waited for."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from django.conf import settings

from articles.modelled.asking import CannotAskError
from articles.modelled.models import ModelTask
from articles.modelled.questions import ask_brief
from articles.modelled.wording import SourcedAnswer, sourced
from articles.personal.following import subscriber_of
from crawler.database.readers import reading_as
from crawler.engine.chosen import chosen
from crawler.engine.ticking import tick_seconds
from crawler.notices.models import Rule
from crawler.notices.times import last_slot
from crawler.web.limits import LimitReached

log = logging.getLogger(__name__)
SPARE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class DigestBrief:
    """A morning brief, and the name of the model that made it."""

    answer: SourcedAnswer
    model: str


def prepare_brief(rule: Rule, now: datetime, zone: tzinfo) -> None:
    """Ask for the brief of a digest whose time comes before the model could be asked at the next tick.

    Whatever goes wrong, the digest goes out without it.
    """
    if not rule.with_brief or rule.pace == Rule.Pace.NOW or not settings.MODEL_URL:
        return
    if last_slot(now + _lead(), rule.hour, _weekday(rule), zone) <= now:
        return
    try:
        subscriber = subscriber_of(rule.user)
        recent_tasks = ModelTask.objects.filter(
            subscriber=subscriber, kind="brief", created__gt=now - _lead()
        )
        if recent_tasks.exists():
            return
        with reading_as(rule.user_id):
            ask_brief(subscriber, now)
    except (CannotAskError, LimitReached):
        return
    except Exception:
        log.exception("no brief could be asked for rule %s", rule.pk)


def brief_for(rule: Rule, now: datetime) -> DigestBrief | None:
    """Return the brief that was asked for a digest, None if there is no answer yet."""
    if not rule.with_brief or not settings.MODEL_URL:
        return None
    try:
        rows = ModelTask.objects.filter(
            subscriber__user=rule.user_id, kind="brief", created__gt=now - 2 * _lead()
        )
        row = rows.filter(state=ModelTask.State.DONE).defer("prompt").order_by("-created", "-id").first()
        if row is None:
            return None
        with reading_as(rule.user_id):
            sourced_answer = sourced(row)
        return DigestBrief(sourced_answer, row.model) if sourced_answer else None
    except Exception:
        log.exception("the brief of rule %s could not be read", rule.pk)
        return None


def _lead() -> timedelta:
    """Return how long before a digest its brief is asked for: a tick, and the time of an answer."""
    return timedelta(seconds=tick_seconds() + chosen("MODEL_SECONDS")) + SPARE


def _weekday(rule: Rule) -> int | None:
    return rule.weekday if rule.pace == Rule.Pace.WEEKLY else None
