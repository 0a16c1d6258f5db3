"""Server time of the search over many articles, by kinds of queries, beside its goal.

    python -m benchmarks.search [--articles 1000000] [--feeds 1000] [--requests 40]

Articles of invented words, as frequent as words are (Zipf's law), by 2,000 authors in four languages, over
three years, on an embedded PostgreSQL of its own. Queries of a kind have other words each time: the whole
page, the hits alone as they come while somebody types, and the API. Prints p50 and p95 in milliseconds of
every kind, and of all.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from benchmarks.database import own_database
from benchmarks.goals import Goal

GOAL, PHRASE_GOAL = 150.0, 300.0
"""Milliseconds for 95 of 100 searches, of all kinds and for a phrase."""
VOCABULARY, AUTHORS, TAGS = 40_000, 2_000, 300
LANGUAGES = ("en", "en", "en", "de", "fr", "es")
AT_ONCE = 5_000
AUDIO = [{"url": "https://a.example/a.mp3", "type": "audio/mpeg"}]
SYLLABLES = (
    "ba", "be", "bo", "da", "del", "dor", "el", "en", "fa", "fen", "gal", "ga", "ha", "her", "il",
    "in", "jo", "ka", "kel", "la", "lin", "lo", "mar", "men", "mi", "mo", "na", "nel", "no", "or",
    "pa", "pel", "ra", "ren", "ri", "ro", "sa", "sel", "so", "ta", "ten", "ti", "to", "ul", "un",
    "va", "ven", "vi", "vo", "wa", "wen", "za", "zel",
)  # fmt: skip


def main() -> None:
    """Fill a database, and search it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--articles", type=int, default=1_000_000)
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--requests", type=int, default=40, help="for each kind of query")
    options = parser.parse_args()
    with own_database("search", {"fsync": "off"}, ALLOWED_HOSTS="testserver"):
        from django.core.management import call_command

        call_command("collectstatic", interactive=False, verbosity=0)
        words = vocabulary(random.Random(1))
        began = time.perf_counter()
        fill(words, options.feeds, options.articles)
        seconds = time.perf_counter() - began
        print(f"{options.articles} articles of {options.feeds} feeds stored in {seconds:.0f} s")
        print(f"{stored_bytes():.0f} bytes an article with its indexes and its enrichment")
        measure(words, options.requests)


def stored_bytes() -> float:
    """Return the bytes that an article takes in the database."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT pg_total_relation_size('articles_article')
                + pg_total_relation_size('enrichment_enrichment'), count(*) FROM articles_article
            """
        )
        size, count = cursor.fetchone()
    return float(size / count)


def vocabulary(dice: random.Random) -> list[str]:
    """Return invented words, the most frequent first."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        words["".join(dice.choice(SYLLABLES) for _ in range(dice.randint(1, 4)))] = None
    return list(words)


def fill(words: Sequence[str], feed_count: int, article_count: int) -> None:
    """Store feeds and articles, as if all were enriched, and a person who follows the feeds."""
    from django.contrib.auth.models import User
    from django.db import connection

    from articles.intake import _new_article
    from articles.models import Article, Subscriber, Subscription
    from crawler.database.bulk import insert_rows
    from crawler.engine.models import Host
    from crawler.text.keys import digest
    from feeds.models import Feed

    dice, chance, now = random.Random(2), np.random.default_rng(2), datetime.now(UTC)
    shares = 1 / np.arange(1, len(words) + 1)
    shares /= shares.sum()
    hosts = Host.objects.bulk_create(Host(name=f"site{number}.example") for number in range(feed_count))
    feeds = Feed.objects.bulk_create(
        Feed(
            url=f"https://{host.name}/feed", canonical_url=f"https://{host.name}/feed", host=host,
            title=f"{words[number % 500].title()} {words[number % 700].title()}",
        )
        for number, host in enumerate(hosts)
    )  # fmt: skip
    step = timedelta(days=3 * 365) / article_count
    for start in range(0, article_count, AT_ONCE):
        many = min(AT_ONCE, article_count - start)
        drawn = chance.choice(len(words), size=(many, 70), p=shares)
        rows = []
        for at in range(many):
            number = start + at
            feed = feeds[dice.randrange(feed_count)]
            own_words = [words[place] for place in drawn[at]]
            title, text = " ".join(own_words[:8]).capitalize(), " ".join(own_words[8:]) + "."
            rows.append(
                _new_article(
                    feed_id=feed.pk, identity=str(number), identity_key=digest(str(number)),
                    url=f"https://site{feed.pk}.example/{number}", title=title, author=author(dice, words),
                    categories=[words[dice.randrange(TAGS)]], language=dice.choice(LANGUAGES),
                    published=now - step * (article_count - number), fetched=now, dating="feed", summary="",
                    text=text, text_length=len(text), content=f"<p>{text}</p>",
                    enclosures=[] if number % 10 else AUDIO,
                )
            )  # fmt: skip
        insert_rows(Article, rows)
    person = Subscriber.objects.create(user=User.objects.create_superuser("person", password="!"))
    Subscription.objects.bulk_create(Subscription(subscriber=person, feed=feed) for feed in feeds)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE enrichment_enrichment SET state = 'done', category = 'Sport' WHERE article_id % 12 = 0;
            UPDATE enrichment_enrichment SET state = 'done' WHERE state <> 'done';
            """
        )
        cursor.execute("VACUUM ANALYZE")


def author(dice: random.Random, words: Sequence[str]) -> str:
    """Return one of the authors, the first more often than the last."""
    number = int(AUTHORS * dice.random() ** 2)
    return f"{words[1000 + number].title()} {words[5000 + number].title()}"


def queries(words: Sequence[str], dice: random.Random) -> dict[str, Callable[[], str]]:
    """Return for each kind of query a function that makes one."""

    def frequent() -> str:
        return words[dice.randrange(20, 200)]

    def usual() -> str:
        return words[dice.randrange(200, 4_000)]

    def rare() -> str:
        return words[dice.randrange(10_000, len(words))]

    return {
        "a frequent word": frequent,
        "a word": usual,
        "a rare word": rare,
        "two words": lambda: f"{frequent()} {usual()}",
        "three words": lambda: f"{frequent()} {usual()} {usual()}",
        "a phrase": lambda: f'"{frequent()} {frequent()}"',
        "the beginning of a word": lambda: f"{usual()[:4]}*",
        "one word or the other": lambda: f"{usual()} or {usual()}",
        "a word and not another": lambda: f"{frequent()} -{usual()}",
        "author:": lambda: f'author:"{author(dice, words)}"',
        "site:": lambda: f"{frequent()} site:site{dice.randrange(1, 900)}.example",
        "lang:": lambda: f"{usual()} lang:de",
        "topic:": lambda: f"{frequent()} topic:Sport",
        "has:": lambda: f"{usual()} has:audio",
        "before: and after:": lambda: f"{frequent()} after:2025-06-01 before:2025-09-01",
        "no such word": lambda: f"xq{dice.randrange(10**6)}",
    }


def measure(words: Sequence[str], requests: int) -> None:
    """Search with every kind of query, and print the times."""
    from django.contrib.auth.models import User
    from django.test import Client

    from crawler.isolation.memory import keep_what_is_loaded

    client = Client()
    client.force_login(User.objects.get(username="person"))
    client.get("/search/", {"q": words[100]})
    keep_what_is_loaded()
    every: list[float] = []
    phrases: list[float] = []
    for kind, make in queries(words, random.Random(3)).items():
        columns = []
        for ask in (
            lambda query: client.get("/search/", {"q": query}),
            lambda query: client.get("/search/", {"q": query}, headers={"HX-Request": "true"}),
            lambda query: client.get("/api/articles/", {"q": query}),
        ):
            milliseconds = [timed(ask, make()) for _ in range(requests)]
            every += milliseconds
            phrases += milliseconds if kind == "a phrase" else []
            columns.append(f"{statistics.median(milliseconds):7.1f} {percentile(milliseconds):7.1f}")
        print(f"{kind:26} page {columns[0]}  as typed {columns[1]}  API {columns[2]}", flush=True)
    print(f"all: p50 {statistics.median(every):.1f} ms")
    print(Goal("all, p95", percentile(every), GOAL, "ms", most=True))
    print(Goal("a phrase, p95", percentile(phrases), PHRASE_GOAL, "ms", most=True))


def timed(ask: Callable[[str], Any], query: str) -> float:
    """Return the milliseconds of a request; one that was given up takes the time until then.

    Raises RuntimeError for any other failure.
    """
    began = time.perf_counter()
    answer = ask(query)
    if answer.status_code not in {200, 503}:
        raise RuntimeError(f"{query}: {answer.status_code}")
    return 1000 * (time.perf_counter() - began)


def percentile(milliseconds: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(milliseconds, n=20)[18]


if __name__ == "__main__":
    main()
