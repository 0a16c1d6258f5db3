"""Cost of rules about articles beside the cost of storing the articles that they look at.

    python -m benchmarks.rules [--rules 1000] [--articles 10000] [--feeds 500] [--rounds 3]

Articles of invented words (those of `benchmarks.search`) are stored as check-ins store them, twenty of a
feed, ten feeds to a transaction, with the rules of one person who follows all feeds: six in ten look for
words, two for an expression, the others for an author, a tag or a feed; one article in twenty is hit. Storing
is `store_arrivals` alone, without what else a check-in does. Processor time of this process and PostgreSQL's;
rounds alternate between no rules and all. Hostile expressions are then added, one in a hundred rules.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from benchmarks.database import own_database
from benchmarks.goals import Goal
from benchmarks.processes import family, processor_seconds
from benchmarks.search import author, vocabulary

GOAL = 10.0
"""Percent of the cost of storing."""
FEEDS_AT_ONCE, ENTRIES = 10, 20
HOSTILE = r"(\w+\s?)+(\w+\s?)+;$"


def main() -> None:
    """Store articles without rules and with them, alternating."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", type=int, default=1_000)
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--feeds", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with own_database("rules", {"fsync": "off"}, ALLOWED_HOSTS="testserver"):
        words = vocabulary(random.Random(1))
        feeds, user = prepare(options.feeds)
        shares: list[float] = []
        number = 0
        for _ in range(options.rounds):
            none = run(words, feeds, number, options.articles)
            make_rules(user, words, feeds, options.rules)
            with_rules = run(words, feeds, number + 1, options.articles)
            share = 100 * with_rules[1] / with_rules[0]
            shares.append(share)
            print(
                f"storing {none[0]:.1f} s and {with_rules[0]:.1f} s; rules {none[1]:.2f} s and "
                f"{with_rules[1]:.2f} s, {share:.1f} %, {with_rules[2]} hits"
            )
            make_rules(user, words, feeds, 0)
            number += 2
        print(Goal("rules beside storing, %", statistics.median(shares), GOAL, most=True))
        make_rules(user, words, feeds, options.rules, hostile=options.rules // 100)
        stored, ruled, hits = run(words, feeds, number, options.articles)
        share = 100 * ruled / stored
        print(
            f"one rule in a hundred hostile: {ruled:.1f} s beside {stored:.1f} s, {share:.0f} %, {hits} hits"
        )


def prepare(feed_count: int) -> tuple[list[int], Any]:
    """Make feeds, and a person who follows them."""
    from django.contrib.auth.models import User

    from articles.models import Subscriber, Subscription
    from crawler.engine.models import Host
    from feeds.models import Feed

    hosts = Host.objects.bulk_create(Host(name=f"site{number}.example") for number in range(feed_count))
    feeds = Feed.objects.bulk_create(
        Feed(url=f"https://{host.name}/feed", canonical_url=f"https://{host.name}/feed", host=host)
        for host in hosts
    )
    user = User.objects.create_user("mara")
    subscriber = Subscriber.objects.create(user=user)
    Subscription.objects.bulk_create(Subscription(subscriber=subscriber, feed=feed) for feed in feeds)
    return [feed.pk for feed in feeds], user


def make_rules(user: Any, words: Sequence[str], feeds: Sequence[int], many: int, hostile: int = 0) -> None:
    """Replace the rules with others: words are rare ones, so that few articles are hit."""
    from crawler.notices.models import Rule

    dice, now = random.Random(5), datetime.now(UTC)
    rare = words[len(words) // 4 :]

    def word() -> str:
        """Return a word that few articles have: one in thirty is of their vocabulary."""
        return dice.choice(rare) + ("" if dice.random() < 1 / 30 else dice.choice(rare))

    Rule.objects.all().delete()
    rules = []
    for number in range(many):
        rule = Rule(user=user, when="article", deeds=["read"], looked=now, acted=now)
        kind = number % 10
        if number < hostile:
            rule.expression = HOSTILE
        elif kind < 6:
            rule.words = ", ".join(word() for _ in range(3))
        elif kind < 8:
            rule.expression = rf"\b{word()}\W+{dice.choice(rare)}"
        elif kind == 8:
            rule.author = f"nobody {number}"
        else:
            rule.feed_id, rule.tag = dice.choice(feeds), word()
        rules.append(rule)
    Rule.objects.bulk_create(rules)


def run(words: Sequence[str], feeds: Sequence[int], number: int, many: int) -> tuple[float, float, int]:
    """Store articles. Returns the processor seconds of storing, those of the rules, and the hits."""
    from django.db import connection, transaction

    from articles.intake import Arrival, store_arrivals
    from crawler.notices.rules.applying import apply_on_arrival

    dice, chance = random.Random(number), np.random.default_rng(number)
    shares = 1 / np.arange(1, len(words) + 1)
    shares /= shares.sum()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    processes = family(os.getpid()) | {backend}
    stored = ruled = 0.0
    hits = done = 0
    while done < many:
        chosen = [feeds[(done // ENTRIES + place) % len(feeds)] for place in range(FEEDS_AT_ONCE)]
        arrivals = [
            Arrival(feed, time.time(), 1.0, "en", entries(words, shares, dice, chance), ()) for feed in chosen
        ]
        before = processor_seconds(processes)
        with transaction.atomic():
            stored_entries = store_arrivals(arrivals)
            between = processor_seconds(processes)
            hits += apply_on_arrival(
                {feed: entries.articles for feed, entries in stored_entries.items()}, datetime.now(UTC)
            )
            after = processor_seconds(processes)
        stored, ruled = stored + between - before, ruled + after - between
        done += FEEDS_AT_ONCE * ENTRIES
    return stored, ruled, hits


def entries(words: Sequence[str], shares: Any, dice: random.Random, chance: Any) -> tuple[Any, ...]:
    """Return the entries of a feed's document."""
    from crawler.reading.documents import Entry

    drawn = chance.choice(len(words), size=(ENTRIES, 200), p=shares)
    made = []
    for place, row in enumerate(drawn):
        own = [words[at] for at in row]
        title, text = " ".join(own[:8]).capitalize(), " ".join(own[8:])
        key = f"{place}-{dice.random()}"
        made.append(
            Entry(
                f"tag:{key}", f"https://a.example/{key}", title, author(dice, words), time.time(),
                categories=(own[0], own[1]), summary=f"<p>{text}</p>", text=text,
            )
        )  # fmt: skip
    return tuple(made)


if __name__ == "__main__":
    main()
