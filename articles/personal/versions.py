"""What has changed for readers: a version number for every feed, from which documents get their stamps.

A stamp that is the same says that a document would be the same, so that most readings end without building
it. `touch` is the last statement of a transaction, in one order, so that no two wait for each other.
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
    """An address of a personal feed when it is asked for: whose it is, what decides on its document, and the
    validators of that document as it was built last. `failures` are attempts with unknown tokens from where
    it is asked for (`crawler.web.attempts`); `token` is None for one more of them.
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
        """Whether the document would be what it was when it was built last."""
        return self.built is not None and bytes(self.built) == self.stamp


def reading(token: str, address: str, kind: str, number: int, attempts: Mapping[str, Any]) -> Reading:
    """What is known of a token and of the document at an address, and the attempts of who asks
    (`crawler.web.attempts.attempts_of`), in one query.
    """
    asked = {"token": token, "kind": kind, "number": number, **attempts}
    (row,) = planned_rows(_READING, asked)
    failures, key, revoked, last_read, feed, active, built, digest, changed, *state = row
    stamp = hashlib.blake2b(repr((address, feed, state)).encode(), digest_size=16).digest()
    return Reading(failures, key, revoked, last_read, feed, active, stamp, built, digest or "", changed)


def keep_validators(asked: Reading, kind: str, number: int, digest: str, changed: datetime) -> None:
    """Keep the validators of a document that was built, for as long as its stamp stays."""
    planned_rows(_KEEP, [asked.personal_feed, kind, number, asked.stamp, digest, changed])


def note_reading(asked: Reading, now: datetime) -> None:
    """Remember that the address is in use."""
    planned_rows(_NOTE, [now, asked.token])


def touch(feeds: Iterable[int]) -> None:
    """Note that articles of these feeds came, changed or went; at the end of the transaction that did it."""
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
    """The same for the feeds of these articles."""
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
        SELECT count(*) || ' ' || max(id) || ' ' || (SELECT sum(version) FROM {FeedVersion._meta.db_table})
        FROM {Topic._meta.db_table} AS topic WHERE topic.subscriber_id = wanted.subscriber_id
        HAVING count(*) > 0
    )
FROM (VALUES (%(token)s)) AS given(token)
LEFT JOIN {PersonalFeedToken._meta.db_table} AS token ON token.token = given.token
LEFT JOIN {PersonalFeed._meta.db_table} AS wanted ON wanted.id = token.personal_feed_id
LEFT JOIN {Subscriber._meta.db_table} AS subscriber ON subscriber.id = wanted.subscriber_id
LEFT JOIN {User._meta.db_table} AS person ON person.id = subscriber.user_id
LEFT JOIN {PersonalPage._meta.db_table} AS page
    ON page.personal_feed_id = wanted.id AND page.kind = %(kind)s AND page.number = %(number)s
"""  # noqa: S608 - the tables' own names
"""A topic brings articles of all feeds: with one, every feed's version counts."""

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
