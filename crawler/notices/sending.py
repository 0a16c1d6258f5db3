"""Sending: messages are claimed, sent in separate processes, and settled one by one."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future, as_completed
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import Min, QuerySet

from crawler.database.secrets import UnreadableError
from crawler.database.threads import ConnectionThreads
from crawler.engine.leased import claimable, lease_until
from crawler.fetching.sandboxed import client
from crawler.isolation.calls import ProgramError
from crawler.notices.models import MAX_ATTEMPTS, Notification, Target
from crawler.notices.posting import TOO_SLOW, SendOutcome
from crawler.notices.program import SEND
from crawler.notices.times import next_try
from crawler.notices.writing import stop_address
from crawler.text.reasons import Reason, packed, unpacked

log = logging.getLogger(__name__)

THREADS = 8
SECONDS = 30.0
LEASE = timedelta(seconds=4 * SECONDS)
MAX_CLAIMED = 64
MAX_OF_TARGET = 16
MAX_OF_FAILING = 2
"""Messages of a target that fails which are tried together, so that one that hangs leaves room for others."""
MAX_ANSWER = 65_536

client.programs.add_module("crawler.notices.program")


def send_for(seconds: float) -> bool:
    """Send due messages for some seconds. Returns whether more are due."""
    until = time.monotonic() + seconds
    with ConnectionThreads(THREADS, thread_name_prefix="send") as threads:
        while messages := claim(datetime.now(UTC)):
            under_way = {threads.submit(send, message): message for message in messages}
            for future in as_completed(under_way):
                _settle_one(under_way[future], future)
            if time.monotonic() > until:
                return Notification.objects.due(datetime.now(UTC)).exists()
    return False


@transaction.atomic
def claim(now: datetime) -> list[Notification]:
    """Take due messages for this process, for as long as sending may last at most.

    Each target has its turn, the one that waits longest first: the oldest messages alone would all be those
    of one dead target that has thousands, and the others would wait behind them (issue 56).
    """
    notifications: list[Notification] = []
    waits = Notification.objects.due(now).order_by().values("target", "target__failing_since")
    for target in waits.annotate(since=Min("due")).order_by("since", "target")[:MAX_CLAIMED]:
        limit = MAX_OF_FAILING if target["target__failing_since"] else MAX_OF_TARGET
        notifications += _oldest(target["target"], now, min(limit, MAX_CLAIMED - len(notifications)))
    lease_until(notifications, now + LEASE, counting="attempts", state=Notification.State.SENDING)
    return notifications


def _oldest(target: int | None, now: datetime, number: int) -> QuerySet[Notification]:
    """Return and lock the oldest due messages to a target that no other process is about to take."""
    rows = Notification.objects.due(now).filter(target=target).select_related("target", "rule")
    return claimable(rows.order_by("due", "id"))[:number]


def _settle_one(message: Notification, future: Future[SendOutcome]) -> None:
    """Store the outcome of one message; a fault in it leaves the others as they are."""
    try:
        outcome = future.result()
    except Exception as error:
        log.exception("message %s could not be sent", message.uid)
        outcome = SendOutcome("failed", f"{type(error).__name__} within Freshet; the log says more")
    settle(message, outcome, datetime.now(UTC))


def send(message: Notification) -> SendOutcome:
    """Send a message. Whatever goes wrong becomes an outcome."""
    target = message.target
    if target is None:
        return SendOutcome("gone", "its target was deleted")
    if message.attempts > MAX_ATTEMPTS:
        return SendOutcome("gone", "the process that sent it ended each time")
    try:
        address = target.address
    except UnreadableError as error:
        return SendOutcome("gone", str(error))
    parcel = _parcel(message, target, address)
    if target.target_kind.is_isolated:
        return run_program(parcel)
    stop = stop_address(message.rule) if message.rule else ""
    return target.target_kind.send(parcel | {"html": message.html, "stop": stop})


def run_program(parcel: dict[str, Any]) -> SendOutcome:
    """Make the request of a parcel (`program.outcome_of`) in a separate process with a deadline."""
    words = {"allowed_networks": [str(network) for network in settings.FETCH_ALLOWED_NETWORKS]}
    body = json.dumps(parcel).encode()
    try:
        encoded_outcome = client.programs.call(SEND, words, body, seconds=SECONDS, max_bytes=MAX_ANSWER)
        outcome = msgspec.msgpack.decode(encoded_outcome, type=SendOutcome)
        outcome.detail = unpacked(outcome.detail)
        return outcome
    except ProgramError as error:
        return SendOutcome("failed", _words_of(error))
    except msgspec.MsgspecError:
        return SendOutcome("failed", "the process returned invalid output")


def _parcel(message: Notification, target: Target, address: str) -> dict[str, Any]:
    facts = message.facts
    return {
        "kind": target.kind,
        "uid": str(message.uid),
        "address": address,
        "title": message.title,
        "text": message.text,
        "url": facts.get("url", ""),
        "link": facts.get("link", ""),
        "seconds": max(SECONDS - 5, SECONDS / 2),
        "user_agent": settings.FETCH_USER_AGENT,
        "body": {"id": str(message.uid), "title": message.title, "text": message.text, **facts},
        **target.target_kind.more_facts(),
    }


@transaction.atomic
def settle(message: Notification, outcome: SendOutcome, now: datetime) -> None:
    """Store the outcome of a message. One that another process settled meanwhile stays as it is."""
    rows = Notification.objects.filter(
        pk=message.pk, state=Notification.State.SENDING, attempts=message.attempts
    )
    detail = outcome.detail
    if not isinstance(detail, Reason) or len(packed(detail)) > 300:
        detail = detail.replace("\0", "")[:300]
    if outcome.state == "sent":
        if rows.update(state=Notification.State.SENT, sent=now, leased_until=None, failure=""):
            _targets_of(message).update(failing_since=None, failure="", last_sent=now)
        return
    is_last = outcome.state == "gone" or message.attempts >= MAX_ATTEMPTS
    changes: dict[str, Any] = {"leased_until": None, "failure": detail}
    if is_last:
        changes["state"] = Notification.State.FAILED
    else:
        changes |= {"state": Notification.State.WAITING, "due": next_try(now, message.attempts, outcome.wait)}
    if not rows.update(**changes):
        return
    targets = _targets_of(message)
    targets.filter(failing_since__isnull=True).update(failing_since=now)
    targets.update(failure=detail)
    if outcome.state == "gone" and message.target and message.target.target_kind.is_deleted_when_gone:
        targets.delete()


def _targets_of(message: Notification) -> QuerySet[Target]:
    return Target.objects.filter(messages=message)


def _words_of(error: ProgramError) -> str:
    if error.kind == "too-slow":
        return TOO_SLOW
    return error.detail or str(error.kind)


def delete_old(now: datetime, days: int) -> int:
    """Delete messages that are done, and notices, older than some days. Returns the number of messages."""
    from crawler.notices.models import Notice  # noqa: PLC0415 - once a day

    before = now - timedelta(days=days)
    final_states: Sequence[str] = (Notification.State.SENT, Notification.State.FAILED)
    deleted, _rows = Notification.objects.filter(state__in=final_states, created__lt=before).delete()
    Notice.objects.filter(at__lt=before, told__isnull=False).delete()
    Notice.objects.filter(at__lt=before).exclude(held="").delete()
    return deleted
