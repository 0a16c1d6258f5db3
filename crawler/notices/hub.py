"""The hub of personal feeds (WebSub): programs subscribe and get each new state of a feed, signed.

Source: W3C Recommendation "WebSub", 23 January 2018; section numbers refer to it.
"""

from __future__ import annotations

import logging
import re
import secrets as random
import time
from collections.abc import Mapping
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, Q
from django.utils import translation

from articles.models import PersonalFeed
from articles.personal.outputs import HUB_PATH, Addresses, build_page
from articles.personal.versions import Reading, reading
from crawler.database import secrets
from crawler.database.readers import reading_as
from crawler.database.threads import ConnectionThreads
from crawler.engine.leased import claimable, lease_until
from crawler.notices.models import MAX_ATTEMPTS, MAX_TOPIC, HubClient
from crawler.notices.posting import SendOutcome
from crawler.notices.sending import LEASE, SECONDS, run_program
from crawler.notices.times import next_try
from crawler.text.keys import digest
from crawler.web.syndication.answer import digest_of
from crawler.web.syndication.formats import FORMATS

log = logging.getLogger(__name__)

MAX_CLIENTS = 20
"""Maximum number of programs to one personal feed."""
MAX_URL = 2000
MAX_UNCONFIRMED_ATTEMPTS = 2
"""Attempts to reach a program that has not confirmed yet: until then it takes the place of another."""
MAX_SECRET_BYTES = 199
LEASE_SECONDS = 10 * 86_400
MIN_LEASE_SECONDS = 3600
MAX_LEASE_SECONDS = 30 * 86_400
MAX_TOPICS = 200
"""Feeds that are looked at in one run."""
THREADS = 4
MAX_CLAIMED = 12
_NO_ATTEMPTS: Mapping[str, Any] = {"attempts_keys": [], "window": datetime(2000, 1, 1, tzinfo=UTC)}
_TOPIC = re.compile(r"/personal/([\w-]{20,64})\.(rss|atom|json)")


class HubError(ValueError):
    """Error for a request that the hub refuses; the message says why, for the program's author."""


class UnknownTopic(HubError):
    """Error for an address that is no personal feed's."""


def read_topic(topic: str, attempts: Mapping[str, Any] = _NO_ATTEMPTS) -> tuple[Reading, str]:
    """Return the state of the feed at an address, and its format. Raises UnknownTopic."""
    match = _TOPIC.search(topic)
    is_plain = topic.isascii() and topic.isprintable() and topic.count("/personal/") == 1
    is_whole = match is not None and match.end() == len(topic) <= MAX_TOPIC
    if match is None or not is_whole or not is_plain or match[2] not in FORMATS:
        raise UnknownTopic("hub.topic is not the address of a feed that is announced here")
    return reading(match[1], topic, match[2], 1, attempts), match[2]


def is_served(state: Reading) -> bool:
    """Return whether the address answers with a feed."""
    return (
        state.token is not None and state.revoked is None and bool(state.active) and bool(state.personal_feed)
    )


def request_change(state: Reading, fields: Mapping[str, str], now: datetime) -> None:
    """Note what a program asks for (5.1); its callback is asked to confirm it. Raises HubError."""
    mode, topic, callback = (fields.get(f"hub.{name}", "") for name in ("mode", "topic", "callback"))
    secret, wanted_seconds = fields.get("hub.secret", ""), _lease(fields.get("hub.lease_seconds", ""))
    if mode not in {"subscribe", "unsubscribe"}:
        raise HubError("hub.mode must be subscribe or unsubscribe")
    try:
        parts = urlsplit(callback)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.username is None
    except ValueError:
        is_web = False
    if not is_web or len(callback) > MAX_URL or not callback.isprintable() or " " in callback:
        raise HubError("hub.callback must be a web address")
    if len(secret.encode()) > MAX_SECRET_BYTES:
        raise HubError("hub.secret must be shorter than 200 bytes")
    changes = {
        "wanted": mode,
        "wanted_secret": secrets.seal(secret) if secret else "",
        "wanted_seconds": wanted_seconds,
        "due": now,
        "attempts": 0,
    }
    key = digest(f"{topic}\n{callback}")
    with transaction.atomic():
        # One request for a feed after the other, so that two do not both see the last free place.
        PersonalFeed.objects.select_for_update().get(pk=state.personal_feed or 0)
        if HubClient.objects.filter(key=key).update(**changes) or mode == "unsubscribe":
            return
        rows = HubClient.objects.filter(personal_feed=state.personal_feed)
        if rows.count() >= MAX_CLIENTS:
            raise HubError(f"{MAX_CLIENTS} programs are told of this feed already, which is the limit")
        HubClient.objects.create(
            personal_feed_id=state.personal_feed or 0, topic=topic, callback=callback, key=key, **changes
        )


def notice_changes(now: datetime) -> int:
    """End what is over, and note for each changed feed that its programs are to be told. Returns how many.

    A feed whose programs are being told already is looked at when they have been.
    """
    expired = Q(until__lte=now) | Q(until=None)
    HubClient.objects.filter(expired, wanted="", due=None).delete()
    rows = HubClient.objects.filter(until__gt=now, due=None)
    waited = rows.order_by().values("topic").annotate(since=Min("compared_at"))
    topics = waited.order_by(F("since").asc(nulls_first=True), "topic").values_list("topic", flat=True)
    count = 0
    for topic in topics[:MAX_TOPICS]:
        HubClient.objects.filter(topic=topic).update(compared_at=now)
        try:
            count += _look(topic, now)
        except Exception:
            log.exception("a feed at the hub could not be looked at")
    return count


def push_for(seconds: float) -> bool:
    """Send due requests for some seconds. Returns whether more are due."""
    until = time.monotonic() + seconds
    with ConnectionThreads(THREADS, thread_name_prefix="hub") as threads:
        while rows := _claim(datetime.now(UTC)):
            parcels = [(row, *_request_or_outcome(row)) for row in rows]
            under_way = [
                (row, pushed, threads.submit(run_program, parcel) if isinstance(parcel, dict) else parcel)
                for row, parcel, pushed in parcels
            ]
            for row, pushed, sent in under_way:
                _settle(row, _outcome_of(sent), pushed, datetime.now(UTC))
            if time.monotonic() > until:
                return HubClient.objects.due(datetime.now(UTC)).exists()
    return False


def _request_or_outcome(row: HubClient) -> tuple[dict[str, Any] | SendOutcome, str]:
    """Return the request to a program, or the outcome if there is none, and the digest of its document."""
    if row.attempts > MAX_ATTEMPTS:
        return SendOutcome("gone", "the process that sent it ended each time"), ""
    try:
        return _parcel(row)
    except Exception as error:
        log.exception("a request of the hub could not be written")
        return SendOutcome("failed", f"{type(error).__name__} within Freshet; the log says more"), ""


def _outcome_of(sent: Future[SendOutcome] | SendOutcome) -> SendOutcome:
    if isinstance(sent, SendOutcome):
        return sent
    try:
        return sent.result()
    except Exception as error:
        log.exception("a request of the hub could not be sent")
        return SendOutcome("failed", f"{type(error).__name__} within Freshet; the log says more")


def _look(topic: str, now: datetime) -> int:
    """Set the programs of a feed due if it differs from what they were sent."""
    rows = HubClient.objects.filter(topic=topic)
    try:
        state, _kind = read_topic(topic)
    except UnknownTopic:
        rows.delete()
        return 0
    if not is_served(state):
        rows.delete()
        return 0
    waiting = rows.filter(until__gt=now, due=None).exclude(stamp=state.stamp)
    if not waiting.exists():
        return 0
    current = digest_of(_document(topic)[0])
    waiting.filter(pushed=current).update(stamp=state.stamp)
    return waiting.exclude(pushed=current).update(stamp=state.stamp, due=now, attempts=0)


def _document(topic: str) -> tuple[bytes, str]:
    """Return the present document of a feed and its content type. Raises UnknownTopic."""
    state, kind = read_topic(topic)
    row = PersonalFeed.objects.select_related("subscriber").filter(pk=state.personal_feed or 0).first()
    if row is None or not is_served(state):
        raise UnknownTopic("the feed is gone")
    addresses = Addresses(topic, topic[: topic.index("/personal/") + 1])
    # As for those who fetch it.
    with reading_as(row.subscriber.user_id), translation.override(settings.LANGUAGE_CODE):
        return FORMATS[kind].write(*build_page(row, 1, addresses)), FORMATS[kind].content_type


@transaction.atomic
def _claim(now: datetime) -> list[HubClient]:
    claimed = list(claimable(HubClient.objects.due(now).order_by("due", "id"))[:MAX_CLAIMED])
    lease_until(claimed, now + LEASE, counting="attempts")
    return claimed


def _parcel(row: HubClient) -> tuple[dict[str, Any], str]:
    """Return the request to a program, and the digest of the document in it.

    A confirmation has the digest of the present document: the program has just read it.
    """
    common = {"uid": str(row.key), "user_agent": settings.FETCH_USER_AGENT, "seconds": SECONDS - 5}
    try:
        if row.wanted:
            is_first = row.wanted == HubClient.Wanted.SUBSCRIBE and row.until is None
            pushed = digest_of(_document(row.topic)[0]) if is_first else ""
            challenge = random.token_urlsafe(24)
            fields = {"hub.mode": row.wanted, "hub.topic": row.topic, "hub.challenge": challenge}
            if row.wanted == HubClient.Wanted.SUBSCRIBE:
                fields["hub.lease_seconds"] = str(row.wanted_seconds)
            sign = "&" if urlsplit(row.callback).query else "?"
            url = f"{row.callback.partition('#')[0]}{sign}{urlencode(fields)}"
            return common | {"kind": "hub-verify", "url": url, "challenge": challenge}, pushed
        body, content_type = _document(row.topic)
        secret = secrets.unseal(row.sealed_secret) if row.sealed_secret else ""
    except (UnknownTopic, secrets.UnreadableError) as error:
        return common | {"kind": "hub-over", "why": str(error)}, ""
    root = row.topic[: row.topic.index("/personal/")]
    parcel = {
        "kind": "hub-push",
        "url": row.callback,
        "content": body.decode(),
        "content_type": content_type,
        "links": f'<{root}{HUB_PATH}>; rel="hub", <{row.topic}>; rel="self"',
        "secret": secret,
    }
    return common | parcel, digest_of(body)


def _settle(row: HubClient, outcome: SendOutcome, pushed: str, now: datetime) -> None:
    """Store the outcome of a request. One that was replaced meanwhile is sent anew, a settled one is left."""
    mine = HubClient.objects.filter(pk=row.pk, leased_until=row.leased_until)
    rows = mine.filter(due=row.due)
    if not rows.exists():
        mine.update(leased_until=None)
        return
    fields: dict[str, Any] = {"due": None, "leased_until": None, "attempts": 0, "wanted": "", "failure": ""}
    failure = outcome.detail.replace("\0", "")[:300]
    limit = MAX_ATTEMPTS if row.until else MAX_UNCONFIRMED_ATTEMPTS
    if row.wanted and row.until:
        fields["stamp"] = b""  # a push may have waited behind the request
    if outcome.state == "sent" and row.wanted == HubClient.Wanted.SUBSCRIBE:
        lease = now + timedelta(seconds=row.wanted_seconds)
        digest = {} if row.until else {"pushed": pushed}
        rows.update(**fields, **digest, until=lease, sealed_secret=row.wanted_secret, wanted_secret="")
    elif outcome.state == "sent" and not row.wanted:
        rows.update(**fields, pushed=pushed, last_pushed=now)
    elif outcome.state in {"sent", "gone"} and (outcome.state == "sent" or not row.wanted or not row.until):
        rows.delete()  # it does not want to be told any more, or never confirmed
    elif outcome.state == "gone" or row.attempts >= limit:
        rows.update(**fields | {"failure": failure}) if row.until else rows.delete()
    else:
        rows.update(due=next_try(now, row.attempts, outcome.wait), leased_until=None, failure=failure)


def _lease(text: str) -> int:
    seconds = int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else LEASE_SECONDS
    return min(max(seconds, MIN_LEASE_SECONDS), MAX_LEASE_SECONDS)
