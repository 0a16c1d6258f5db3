"""Speed and memory of exports: rows a second and the highest resident size, for each format.

    python -m benchmarks.exports [--articles 20000] [--feeds 200] [--formats csv jsonl]

One person follows all feeds; each article has a text of 2 kB, and one of ten a stored page of 20 kB. Each
format is written in a process of its own through the view of the reader's list, as a browser would take it.
"""

from __future__ import annotations

import argparse
import os
import time
import zlib
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.database import own_database
from benchmarks.pages import fill

PAGE_OF = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--articles", type=int, default=20_000)
    parser.add_argument("--feeds", type=int, default=200)
    parser.add_argument("--formats", nargs="*", default=[], help="default: all")
    options = parser.parse_args()
    with own_database("exports", {"fsync": "off"}, ALLOWED_HOSTS="testserver"):
        from django.db import connection

        from articles.exporting.formats import FORMATS

        fill(options.feeds, options.articles, 0)
        _store_pages()
        connection.close()
        print(
            f"{'format':10} {'rows/s':>9} {'MB':>8} {'first byte, s':>14} {'before, MB':>11} {'peak, MB':>9}"
        )
        for name in options.formats or FORMATS:
            child = get_context("spawn").Process(target=_measure, args=(name, options.articles))
            child.start()
            child.join()


def _store_pages() -> None:
    from articles.models import Article, Page
    from crawler.engine.models import Host
    from crawler.text.keys import digest

    host = Host.objects.get(name="feeds.example")
    html = zlib.compress(os.urandom(10_000).hex().encode())
    articles = list(Article.objects.only("pk", "url").order_by("pk"))[::PAGE_OF]
    for start in range(0, len(articles), 2000):
        part = articles[start : start + 2000]
        pages = Page.objects.bulk_create(
            Page(
                url=article.url, url_key=digest(article.url), host=host, status="stored", html=html,
                content_type="text/html",
            )
            for article in part
        )  # fmt: skip
        for article, page in zip(part, pages, strict=True):
            article.page = page
        Article.objects.bulk_update(part, ["page"])


def _measure(name: str, count: int) -> None:
    import django
    from django.conf import settings

    django.setup()
    settings.ALLOWED_HOSTS = ["testserver"]
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.get(username="person0"))
    answer: Any = client.get("/read/export/?as=csv&feed=1&show=all")
    b"".join(answer.streaming_content)  # loads what is imported late
    Path("/proc/self/clear_refs").write_text("5")  # the highest size counts from here on
    before = _memory("VmRSS")
    begun = time.perf_counter()
    answer = client.get(f"/read/export/?show=all&as={name}")
    size, first = 0, 0.0
    for chunk in answer.streaming_content:
        first = first or time.perf_counter() - begun
        size += len(chunk)
    seconds = time.perf_counter() - begun
    peak = _memory("VmHWM")
    speed = f"{count / seconds:9.0f} {size / 1e6:8.1f} {first:14.2f}"
    print(f"{name:10} {speed} {before:11.0f} {peak:9.0f}", flush=True)


def _memory(name: str) -> float:
    """Return a value of /proc/self/status in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024 / 1e6


if __name__ == "__main__":
    main()
