"""Write an account as other feed readers take it: OPML, and articles in the form of Google Reader's streams.

FreshRSS takes the ZIP file as it is (tried with 1.25); others take `feeds.opml` and `starred.json`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import IO, Any

import msgspec
from django.db.models import F, FilteredRelation, Q

from articles.body import body_of
from articles.models import Article, Subscriber
from articles.personal.following import export_subscriptions
from crawler.reading.sources.kinds import MAIL, SAVED

MAX_ARTICLES = 200_000
A_FILE = 1_000
"""Articles of one file: PHP reads each as a whole."""
STARRED, READ, UNREAD = (f"user/-/state/com.google/{name}" for name in ("starred", "read", "unread"))
LABEL = "user/-/label/"
_KEPT = Q(starred__isnull=False) | (Q(labels__isnull=False) & ~Q(labels=[]))


def write_for_readers(subscriber: Subscriber, out: IO[bytes], now: datetime) -> int:
    """Write feeds, stars, labels, read marks and articles as a ZIP file. Returns the number of articles.

    Saved pages and newsletters stay out: they are of no feed that another reader could ask.
    """
    count = 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("feeds.opml", export_subscriptions(subscriber))
        count += _write(archive, "starred.json", _items(_articles(subscriber).filter(_KEPT)))
        # Not by exclude(): most articles have no mark, and NOT of unknown is unknown.
        plain = Q(starred__isnull=True) & (Q(labels=[]) | Q(labels__isnull=True))
        others = _items(_articles(subscriber).filter(plain)[:MAX_ARTICLES])
        number = 0
        while part := list(islice(others, A_FILE)):
            number += 1
            count += _write(archive, f"articles-{number:03d}.json", part)
    return count


def _articles(subscriber: Subscriber) -> Any:
    """Return the articles of followed feeds, and those that a person keeps, with their marks."""
    followed = subscriber.subscriptions.values("feed")
    marked = Article.objects.alias(
        mark=FilteredRelation("marks", condition=Q(marks__subscriber=subscriber))
    ).annotate(
        was_read=F("mark__read"), starred=F("mark__starred"), labels=F("mark__labels")
    )  # fmt: skip
    rows = marked.filter(Q(feed__in=followed) | _KEPT)
    return rows.exclude(feed__kind__in=(SAVED, MAIL)).order_by("-published", "-id")


def _items(articles: Any) -> Iterator[dict[str, Any]]:
    rows = articles.select_related("feed", "page").defer(
        "search", "text", "page__html", "page__text", "feed__fingerprints"
    )
    for article in rows.iterator(chunk_size=200):
        states = [READ if article.was_read else UNREAD, *([STARRED] if article.starred else [])]
        seconds = int(article.published.timestamp())
        labels = [f"{LABEL}{label}" for label in article.labels or ()]
        yield {
            "id": article.identity,
            "guid": article.identity,
            "title": article.title,
            "author": article.author,
            "published": seconds,
            "timestampUsec": f"{seconds}000000",
            "alternate": [{"href": article.url, "type": "text/html"}] if article.url else [],
            "content": {"content": body_of(article).shown},
            "categories": [*states, *labels, *article.categories],
            "origin": {
                "streamId": f"feed/{article.feed.url}",
                "feedUrl": article.feed.url,
                "htmlUrl": article.feed.site_url,
                "title": article.feed.title or article.feed.url,
            },
        }


def _write(archive: zipfile.ZipFile, name: str, items: Iterable[dict[str, Any]]) -> int:
    count = 0
    with archive.open(name, "w") as file:
        stream = "starred" if name == "starred.json" else "reading-list"
        file.write(b'{"id":"user/-/state/com.google/%s","items":[' % stream.encode())
        for count, item in enumerate(items, start=1):
            file.write((b",\n" if count > 1 else b"\n") + msgspec.json.encode(item))
        file.write(b"]}\n")
    return count
