"""Server time of pages: those of the reader, or those on which feeds are managed and searched.

    python -m benchmarks.pages [--feeds 200] [--articles 100000] [--subscribers 0] [--requests 60]
    python -m benchmarks.pages --of feeds --feeds 10000

One person follows all feeds; a third of the articles are read. `--subscribers` more people follow ten feeds
each and have read some. Of the feeds, a tenth fails and a tenth is paused; all were added in one import.
Prints for each page p50 and p95 in milliseconds, queries, and bytes of the answer as
they are and compressed.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from benchmarks.database import own_database
from benchmarks.goals import Goal

HTMX = {"HX-Request": "true"}
GOALS = {"list": 40.0, "article beside the list": 25.0, "search": 60.0}
"""Milliseconds at p95, with 100,000 articles."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--of", choices=["reader", "feeds"], default="reader", help="the pages to measure")
    parser.add_argument("--feeds", type=int, default=200)
    parser.add_argument("--articles", type=int, default=100_000)
    parser.add_argument("--subscribers", type=int, default=0)
    parser.add_argument("--requests", type=int, default=60, help="for each page")
    options = parser.parse_args()
    with own_database("pages", {"fsync": "off"}, ALLOWED_HOSTS="testserver"):
        from django.core.management import call_command

        call_command("collectstatic", interactive=False, verbosity=0)
        fill(options.feeds, options.articles, options.subscribers)
        measure(options.of, options.requests)


def fill(feed_count: int, article_count: int, subscriber_count: int) -> None:
    """Store feeds, articles and the people who read them."""
    from django.contrib.auth.models import User
    from django.db import connection

    from articles.models import Article, Subscriber, Subscription
    from crawler.engine.models import Host
    from crawler.text.keys import digest
    from feeds.models import Category, Feed, FeedImport, ImportLine

    host = Host.objects.create(name="feeds.example")
    categories = [Category.objects.create(name=f"Folder {number}") for number in range(12)]
    dice, now = random.Random(1), datetime.now(UTC)
    feeds = Feed.objects.bulk_create(
        Feed(
            url=f"https://feeds.example/{number}", canonical_url=f"https://feeds.example/{number}", host=host,
            title=f"Feed {number}", category=categories[number % 12], **_state_of(number, now),
        )
        for number in range(feed_count)
    )  # fmt: skip
    text = "A sentence about the river, its boats and the people at the landing. " * 30
    for start in range(0, article_count, 5000):
        Article.objects.bulk_create(
            Article(
                feed=feeds[number % feed_count], identity=str(number), identity_key=digest(str(number)),
                url=f"https://feeds.example/{number}", title=f"Headline {number} of the river",
                published=now - timedelta(minutes=number), fetched=now, dating="feed", language="en",
                text=text, text_length=len(text), content=f"<p>{text}</p><h2>Boats</h2><p>{text}</p>",
            )
            for number in range(start, min(start + 5000, article_count))
        )  # fmt: skip
    users = User.objects.bulk_create(
        User(username=f"person{number}", password="!", is_staff=not number, is_superuser=not number)
        for number in range(subscriber_count + 1)
    )
    people = Subscriber.objects.bulk_create(Subscriber(user=user) for user in users)
    folders = [f"Folder {number}" for number in range(12)]
    rows = [
        Subscription(subscriber=people[0], feed=feed, folder=folders[number % 12])
        for number, feed in enumerate(feeds)
    ]
    for person in people[1:]:
        rows += [Subscription(subscriber=person, feed=feed) for feed in dice.sample(feeds, 10)]
    Subscription.objects.bulk_create(rows, batch_size=5000)
    feed_import = FeedImport.objects.create(user=users[0], name="feeds.opml")
    ImportLine.objects.bulk_create(
        ImportLine(source=feed_import, text=feed.url, title=feed.title, feed=feed, outcome="added")
        for feed in feeds
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO articles_mark (subscriber_id, article_id, read) "
            "SELECT %s, id, now() FROM articles_article WHERE id %% 3 = 0",
            [people[0].pk],
        )
        cursor.execute(
            "INSERT INTO articles_mark (subscriber_id, article_id, read) "
            "SELECT person.id, article.id, now() FROM articles_subscriber AS person "
            "CROSS JOIN (SELECT id FROM articles_article ORDER BY id LIMIT 50) AS article "
            "WHERE person.id <> %s",
            [people[0].pk],
        )
        cursor.execute("VACUUM ANALYZE")


def _state_of(number: int, now: datetime) -> dict[str, Any]:
    """Return fields of a feed: of ten feeds one fails, one is paused, one is new, and the others are read."""
    kind = number % 10
    if kind == 2:
        return {}
    seen = {
        "last_attempt": now - timedelta(minutes=number % 600),
        "last_success": now - timedelta(minutes=number % 600),
        "not_before": now + timedelta(minutes=number % 60),
        "phase": "normal" if number % 3 else "training",
        "document_size": 20,
    }
    if kind == 0:
        failing = {"failure": "http_5xx", "failure_streak": 5, "failing_since": now - timedelta(days=3)}
        return seen | failing | {"last_success": now - timedelta(days=4)}
    return seen | ({"status": "paused"} if kind == 1 else {})


def measure(kind: str, requests: int) -> None:
    """Request every page of a kind, and print the times."""
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client

    from articles.models import Article
    from crawler.isolation.memory import keep_what_is_loaded
    from feeds.models import Feed, FeedImport

    client = Client()
    client.force_login(User.objects.get(username="person0"))
    client.get("/read/")
    keep_what_is_loaded()  # as `manage.py run` does before it forks the web server
    keys = list(Article.objects.order_by("-published").values_list("pk", flat=True)[: 10 * requests])
    dice = random.Random(2)
    feed_keys = list(Feed.objects.values_list("pk", flat=True)[:1000])
    import_key = FeedImport.objects.get().pk

    def article(**headers: Any) -> Any:
        return client.get(f"/read/{dice.choice(keys)}/", headers=headers)

    reader_pages: dict[str, Callable[[], Any]] = {
        "list": lambda: client.get("/read/"),
        "list of a feed": lambda: client.get("/read/?feed=7&show=all"),
        "list of a folder": lambda: client.get("/read/?folder=Folder+3"),
        "next page": lambda: client.get("/read/?page=9", headers=HTMX | {"HX-Target": "rest9"}),
        "article beside the list": lambda: article(**HTMX),
        "article as a page": article,
        "star": lambda: client.post(f"/read/{dice.choice(keys)}/star/", headers=HTMX),
        "counts, nothing new": lambda: client.get(f"/read/counts/?total={_total(client)}"),
        "api/unread": lambda: client.get("/api/unread/"),
    }
    typed = iter(range(10**9))
    feed_pages: dict[str, Callable[[], Any]] = {
        "feeds": lambda: client.get("/feeds/"),
        "feeds, by title": lambda: client.get("/feeds/?sort=title&page=50"),
        "feeds that need a look": lambda: client.get("/feeds/?health=look"),
        "feeds with a word": lambda: client.get("/feeds/?q=Feed+77"),
        "a feed": lambda: client.get(f"/feeds/{dice.choice(feed_keys)}/"),
        "add": lambda: client.get("/add/"),
        "import of all": lambda: client.get(f"/add/{import_key}/"),
        "progress of an import": lambda: client.get(f"/add/{import_key}/", headers=HTMX),
        "search": lambda: client.get("/search/?q=river+boats"),
        "search, as typed": lambda: client.get(f"/search/?q=headline+{next(typed)}", headers=HTMX),
        "search, without a hit": lambda: client.get("/search/?q=nowhere", headers=HTMX),
        "sites": lambda: client.get("/sites/"),
        "overview": lambda: client.get("/tools/"),
        "health": lambda: client.get("/tools/health/"),
        "settings": lambda: client.get("/settings/"),
        "budget and pace": lambda: client.get("/settings/budget/"),
        "graph": lambda: client.get("/graph/"),
        "crawls": lambda: client.get("/crawls/"),
        "lab": lambda: client.get("/lab/"),
    }
    for name, ask in (feed_pages if kind == "feeds" else reader_pages).items():
        ask()
        queries: list[str] = []
        with connection.execute_wrapper(partial(note_query, queries)):
            answer = ask()
        milliseconds = []
        for _ in range(requests):
            began = time.perf_counter()
            ask()
            milliseconds.append(1000 * (time.perf_counter() - began))
        p50, p95 = statistics.median(milliseconds), statistics.quantiles(milliseconds, n=20)[18]
        packed = len(zlib.compress(answer.content, 6))
        print(
            f"{name:24} {answer.status_code}  p50 {p50:6.1f} ms  p95 {p95:6.1f} ms  {len(queries):2} queries "
            f"{len(answer.content):7} bytes, {packed:6} compressed"
        )
        if goal := GOALS.get(name):
            print(Goal(f"{name}, p95", p95, goal, "ms", most=True))


def note_query(queries: list[str], execute: Any, sql: Any, *arguments: Any) -> Any:
    """Keep the text of a statement that Django executes."""
    queries.append(str(sql))
    return execute(sql, *arguments)


def _total(client: Any) -> int:
    if not hasattr(client, "total"):
        client.total = client.get("/api/unread/").json()["total"]
    return int(client.total)


if __name__ == "__main__":
    main()
