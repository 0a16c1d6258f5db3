"""Personal feeds of many subscribers: how long one takes to build, and to answer a reader that has it.

    python -m benchmarks.personal [--subscribers 10000] [--subscriptions 50] [--readings 400]

An embedded PostgreSQL of its own with enriched articles, subscribers who follow feeds at random and have
learned interests; requests go through all of Django (middleware, views, SQL) in this process. Cold: the
document of a subscriber who was never served. 304: the same again with its validator.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database
from benchmarks.processes import PeakMemory

WORDS = [
    f"{first}{second}" for first in ("ra", "mo", "ti", "ve", "lu", "ko") for second in map(str, range(500))
]
NOW = datetime(2026, 3, 1, tzinfo=UTC)
LEARNED_FROM = 40
"""Articles that a subscriber with interests was shown; every fourth was opened."""


def main() -> None:
    """Fill a database, read personal feeds of both orders, print percentiles."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--subscribers", type=int, default=10_000)
    parser.add_argument("--subscriptions", type=int, default=50)
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--articles", type=int, default=20, help="of each feed")
    parser.add_argument("--readings", type=int, default=400, help="subscribers who are served, of each order")
    options = parser.parse_args()
    with own_database("personal"), PeakMemory(os.getpid()) as memory:
        started = time.perf_counter()
        _fill(options)
        print(
            f"{options.subscribers} subscribers with {options.subscriptions} of {options.feeds} feeds, "
            f"{options.feeds * options.articles} articles: {time.perf_counter() - started:.0f} s to fill",
            flush=True,
        )
        from crawler.isolation.memory import keep_what_is_loaded

        keep_what_is_loaded()  # as crawler.wsgi does
        for order in ("newest", "interest"):
            _measure(order, options.readings)
        print(f"{memory.peak / 1e6:.0f} MB at most, this process and PostgreSQL")


def _measure(order: str, readings: int) -> None:
    from django.test import Client

    from articles.models import PersonalFeedToken

    tokens = PersonalFeedToken.objects.filter(personal_feed__order=order).order_by("pk")
    addresses = [
        f"/personal/{token}.rss" for token in tokens.values_list("token", flat=True)[: readings + 20]
    ]
    client = Client(headers={"Host": "localhost"})
    for address in addresses[:20]:  # what Django and PostgreSQL load once
        client.get(address)
    addresses = addresses[20:]
    cold: list[Any] = []
    cold_times = _times(lambda address: cold.append(client.get(address)), addresses)
    if any(answer.status_code != 200 or not answer.content for answer in cold):
        raise RuntimeError("a personal feed was not served")
    validators = dict(zip(addresses, (answer["ETag"] for answer in cold), strict=True))
    again: list[Any] = []
    known_times = _times(
        lambda address: again.append(client.get(address, headers={"If-None-Match": validators[address]})),
        addresses,
    )
    if any(answer.status_code != 304 for answer in again):
        raise RuntimeError("a reader that has the document got it again")
    size = sum(len(answer.content) for answer in cold) / len(cold)
    print(f"{order:9} {len(addresses)} readings of {size / 1e3:.0f} kB")
    print(f"  cold  {_told(cold_times)}")
    print(f"  304   {_told(known_times)}", flush=True)


def _times(ask: Callable[[str], None], addresses: Sequence[str]) -> list[float]:
    found = []
    for address in addresses:
        began = time.perf_counter()
        ask(address)
        found.append(time.perf_counter() - began)
    return sorted(found)


def _told(times: Sequence[float]) -> str:
    places = (0.5, 0.95, 0.99)
    return ", ".join(
        f"p{place:.0%}".rstrip("%") + f" {1e3 * times[int(place * len(times))]:.1f} ms" for place in places
    )


def _fill(options: argparse.Namespace) -> None:
    from django.contrib.auth.models import User
    from django.db import connection

    from articles.models import PersonalFeed, PersonalFeedToken, Subscriber, Subscription
    from crawler.engine.models import Host
    from feeds.models import Feed

    dice = random.Random(7)
    Host.objects.bulk_create([Host(name=f"feed{n}.example") for n in range(options.feeds)], batch_size=5000)
    hosts = list(Host.objects.order_by("pk").values_list("pk", "name"))
    Feed.objects.bulk_create(
        [
            Feed(url=f"https://{name}/feed", canonical_url=f"https://{name}/feed", host_id=pk, title=name)
            for pk, name in hosts
        ],
        batch_size=2000,
    )
    feeds = list(Feed.objects.order_by("pk").values_list("pk", flat=True))
    _fill_articles(feeds, options.articles, dice)
    User.objects.bulk_create([User(username=f"user{n}") for n in range(options.subscribers)], batch_size=5000)
    users = User.objects.filter(username__startswith="user").order_by("pk").values_list("pk", flat=True)
    Subscriber.objects.bulk_create([Subscriber(user_id=pk) for pk in users], batch_size=5000)
    subscribers = list(Subscriber.objects.order_by("pk"))
    with connection.cursor() as cursor:  # counting subscribers one by one is not what is measured
        cursor.execute("ALTER TABLE articles_subscription DISABLE TRIGGER count_subscriber")
    for start in range(0, len(subscribers), 500):
        Subscription.objects.bulk_create(
            (
                Subscription(subscriber=subscriber, feed_id=feed)
                for subscriber in subscribers[start : start + 500]
                for feed in dice.sample(feeds, min(options.subscriptions, len(feeds)))
            ),
            batch_size=5000,
        )
    PersonalFeed.objects.bulk_create(
        (PersonalFeed(subscriber=subscriber, name=order, order=order)
         for subscriber in subscribers for order in ("newest", "interest")),
        batch_size=5000,
    )  # fmt: skip
    PersonalFeedToken.objects.bulk_create(
        (PersonalFeedToken(personal_feed=row) for row in PersonalFeed.objects.order_by("pk")), batch_size=5000
    )
    for subscriber in subscribers[: options.readings + 20]:
        _learn(subscriber, dice)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _fill_articles(feeds: Sequence[int], each: int, dice: random.Random) -> None:
    from articles.enrichment.models import Enrichment
    from articles.models import Article
    from crawler.database.bulk import insert_rows
    from crawler.text.keys import digest

    rows = []
    for feed in feeds:
        for number in range(each):
            text = " ".join(dice.choices(WORDS, k=300))
            identity = f"tag:{feed},{number}"
            at = NOW - timedelta(minutes=dice.randint(0, 60 * 24 * 60))
            rows.append(
                Article(
                    feed_id=feed, identity=identity, identity_key=digest(identity), title=text[:60],
                    url=f"https://example.org/{feed}/{number}", language="en", published=at, fetched=at,
                    dating="feed", author=f"Author {feed % 50}", content=f"<p>{text}</p>", text=text,
                    text_length=len(text),
                )
            )  # fmt: skip
    for start in range(0, len(rows), 2000):
        insert_rows(Article, rows[start : start + 2000])
    enrichments = list(Enrichment.objects.order_by("pk"))
    for row in enrichments:
        row.state = Enrichment.State.DONE
        row.terms = dice.sample(WORDS, 12)
        row.keywords = [[term, 0.29] for term in row.terms]
        row.category = f"Category {row.pk % 14}"
    Enrichment.objects.bulk_update(enrichments, ["state", "terms", "keywords", "category"], batch_size=2000)


def _learn(subscriber: Any, dice: random.Random) -> None:
    """Interests of somebody who has read for a while."""
    from articles.interest.log import Kind, note
    from articles.personal.selection import followed_articles

    keys = list(followed_articles(subscriber).values_list("pk", flat=True)[:LEARNED_FROM])
    note(subscriber, keys, Kind.SHOWN, NOW)
    note(subscriber, dice.sample(keys, len(keys) // 4), Kind.OPENED, NOW + timedelta(hours=1))


if __name__ == "__main__":
    main()
