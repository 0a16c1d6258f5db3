"""Version numbers of feeds, from which the stamps of personal feeds' documents are computed.

An unchanged stamp means an unchanged document, so that most requests end without building it. `touch` is the
last statement of a transaction and takes its locks in one order, so that no two transactions deadlock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import connection

from articles.interest.models import Event, Interest
from articles.models import (
    Article,
    FeedVersion,
    PersonalFeed,
    PersonalFeedToken,
    PersonalPage,
    Subscriber,
    Subscription,
    Topic,
)
from crawler.database.prepared import planned_rows
from crawler.web.attempts import FAILURES


@dataclass(frozen=True, slots=True)
class Reading:
    """A request for an address of a personal feed: its owner, the stamp, and the last document's validators.

    `failures` are earlier attempts with unknown tokens by the requester (`crawler.web.attempts`); `token` is
    None when this one is unknown, too. `stamp` is of the current state, `built` of the last document.
    """

    failures: int | None
    token: int | None
    revoked: datetime | None
    last_read: datetime | None
    personal_feed: int | None
    active: bool | None
    stamp: bytes
    built: bytes | None
    digest: str
    changed: datetime | None

    @property
    def known(self) -> bool:
        """True when the document would be the same as the last one built."""
        return self.built is not None and bytes(self.built) == self.stamp


def reading(token: str, address: str, kind: str, number: int, attempts: Mapping[str, Any]) -> Reading:
    """Read the state of a token, the document at an address, and the requester's attempts, in one query.

    `attempts` is the result of `crawler.web.attempts.attempts_of`.
    """
    parameters = {"token": token, "kind": kind, "number": number, **attempts}
    (row,) = planned_rows(_READING, parameters)
    failures, key, revoked, last_read, feed, active, built, digest, changed, *state = row
    stamp = hashlib.blake2b(repr((address, feed, state)).encode(), digest_size=16).digest()
    return Reading(failures, key, revoked, last_read, feed, active, stamp, built, digest or "", changed)


def keep_validators(visit: Reading, kind: str, number: int, digest: str, changed: datetime) -> None:
    """Store the validators of a built document together with its stamp."""
    planned_rows(_KEEP, [visit.personal_feed, kind, number, visit.stamp, digest, changed])


def note_reading(visit: Reading, now: datetime) -> None:
    """Store the time at which the address was last read."""
    planned_rows(_NOTE, [now, visit.token])


def touch(feeds: Iterable[int]) -> None:
    """Raise the versions of feeds whose articles were added, changed or deleted, at the end of that
    transaction.
    """
    keys = sorted(set(feeds))
    if not keys:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO {FeedVersion._meta.db_table} AS kept (feed_id, version)
            SELECT feed.id, 1 FROM unnest(%s::bigint[]) AS given(id) JOIN feeds_feed AS feed USING (id)
            ORDER BY feed.id
            ON CONFLICT (feed_id) DO UPDATE SET version = kept.version + 1
            """,  # noqa: S608 - the table's own name
            [keys],
        )


def touch_articles(articles: Iterable[int]) -> None:
    """Raise the versions of the feeds of these articles."""
    touch(Article.objects.filter(pk__in=list(articles)).values_list("feed_id", flat=True))


_READING = f"""
SELECT
    {FAILURES},
    token.id, token.revoked, token.last_read, wanted.id, person.is_active,
    page.stamp, page.digest, page.changed,
    wanted.changed,
    (
        SELECT string_agg(followed.feed_id || ':' || coalesce(kept.version, 0), ' ' ORDER BY followed.feed_id)
        FROM {Subscription._meta.db_table} AS followed
        LEFT JOIN {FeedVersion._meta.db_table} AS kept USING (feed_id)
        WHERE followed.subscriber_id = wanted.subscriber_id
    ),
    (SELECT max(id) FROM {Event._meta.db_table} AS event WHERE event.subscriber_id = wanted.subscriber_id),
    (SELECT changed FROM {Interest._meta.db_table} AS one WHERE one.subscriber_id = wanted.subscriber_id),
    (
        SELECT count(*) || ' ' || coalesce(max(id), 0) || ' '
            || (SELECT sum(version) FROM {FeedVersion._meta.db_table})
        FROM {Topic._meta.db_table} AS topic WHERE topic.subscriber_id = wanted.subscriber_id
        HAVING count(*) > 0 OR wanted.query <> ''
    )
FROM (VALUES (%(token)s)) AS given(token)
LEFT JOIN {PersonalFeedToken._meta.db_table} AS token ON token.token = given.token
LEFT JOIN {PersonalFeed._meta.db_table} AS wanted ON wanted.id = token.personal_feed_id
LEFT JOIN {Subscriber._meta.db_table} AS subscriber ON subscriber.id = wanted.subscriber_id
LEFT JOIN {User._meta.db_table} AS person ON person.id = subscriber.user_id
LEFT JOIN {PersonalPage._meta.db_table} AS page
    ON page.personal_feed_id = wanted.id AND page.kind = %(kind)s AND page.number = %(number)s
"""  # noqa: S608 - the tables' own names
"""A topic or a search brings articles of all feeds: with one, every feed's version counts."""

_UNHURRIED = "set_config('synchronous_commit', 'off', true)"
"""Until the transaction ends nobody waits for the disk: a crash may lose the write, never break anything."""
_KEEP = f"""
INSERT INTO {PersonalPage._meta.db_table} (personal_feed_id, kind, number, stamp, digest, changed)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (personal_feed_id, kind, number)
DO UPDATE SET stamp = EXCLUDED.stamp, digest = EXCLUDED.digest, changed = EXCLUDED.changed
RETURNING {_UNHURRIED}
"""  # noqa: S608 - the table's own name
_NOTE = f"""
UPDATE {PersonalFeedToken._meta.db_table} SET last_read = %s WHERE id = %s RETURNING {_UNHURRIED}
"""  # noqa: S608 - the table's own name
