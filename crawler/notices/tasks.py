"""Tasks of rules and notifications: act on articles, look at what happened, write messages, and send them."""

# ruff: noqa: PLC0415 - what they need is loaded by those who do it

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime

from celery import shared_task
from django.dispatch import receiver

from crawler.engine.signals import planned, settled, ticked
from crawler.engine.work import Stored
from feeds.signals import mailed
from feeds.visiting.visits import StoredEntries
from feeds.work import FeedWork

log = logging.getLogger(__name__)
SECONDS = 20.0
KEPT_DAYS = 60


@receiver(ticked)
def begin(**_: object) -> None:
    """Look for news at every tick, where anybody wants to be told of something."""
    from crawler.notices.models import HubClient, Notification, Rule

    if HubClient.objects.exists():
        push_feeds.delay()
    if Rule.objects.active().exists() or Notification.objects.due(datetime.now(UTC)).exists():
        notify.delay()


@receiver(settled)
def act_on_arrivals(stored: Stored, **_: object) -> None:
    """Let rules act on the articles that were just stored."""
    from crawler.notices.rules.applying import apply_on_arrival

    visits = stored.get(FeedWork, ())
    if new := {visit.feed.id: visit.stored.articles for visit in visits if visit.stored.articles}:
        apply_on_arrival(new, datetime.now(UTC))


@receiver(mailed)
def act_on_mail(stored: Mapping[int, StoredEntries], **_: object) -> None:
    """Let rules act on newsletters that were just stored."""
    from crawler.notices.rules.applying import apply_on_arrival

    apply_on_arrival({feed: entries.articles for feed, entries in stored.items()}, datetime.now(UTC))


@receiver(planned)
def forget(now: datetime, **_: object) -> None:
    """Delete old messages once a day."""
    from crawler.notices.sending import delete_old

    delete_old(now, KEPT_DAYS)


@shared_task
def notify() -> None:
    """Look at what happened for each rule, write its messages, and send what is due."""
    from django.utils import translation

    from crawler.notices.models import Rule
    from crawler.notices.rules.applying import apply_at_tick
    from crawler.notices.watching import look
    from crawler.notices.writing import choices_of, write

    apply_at_tick(datetime.now(UTC))
    for rule in Rule.objects.active().telling().select_related("user").order_by("looked").iterator():
        now = datetime.now(UTC)
        try:
            with translation.override(choices_of(rule.user)[0]):
                look(rule, now)
            write(rule, now)
        except Exception:
            log.exception("rule %s could not be looked at", rule.pk)
    send.delay()


@shared_task
def send() -> None:
    """Send due messages for some seconds, then queue the next run while more are due."""
    from crawler.notices.sending import send_for

    if send_for(SECONDS):
        send.delay()


@shared_task
def push_feeds(look: bool = True) -> None:
    """Send the requests of our hub that are due; with `look` also the personal feeds that have changed."""
    from crawler.notices.hub import notice_changes, push_for

    if look:
        notice_changes(datetime.now(UTC))
    if push_for(SECONDS):
        push_feeds.delay(look=False)


@shared_task
def apply_rule(rule_id: int, at: float) -> None:
    """Apply a rule to the articles that are there; `at` (epoch seconds) is the time of what it sets."""
    from crawler.notices.models import Rule
    from crawler.notices.rules.applying import apply_to_present

    if rule := Rule.objects.filter(pk=rule_id).select_related("user", "topic").first():
        apply_to_present(rule, datetime.fromtimestamp(at, UTC))
