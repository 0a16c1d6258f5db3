"""A news sitemap beside a feed of the same posts: how soon each article is here, and by how many requests.

    python benchmarks/sitemaps.py [--seconds 120] [--every 6]

One server publishes posts at random times, about one in so many seconds, and shows them in a feed, in a news
sitemap, and in an index of sitemaps that names a packed one. Freshet follows all three in a database of its
own, with a tick of a second and no lower bound between visits but that.
"""

from __future__ import annotations

import argparse
import gzip
import random
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database

if TYPE_CHECKING:
    from tests.servers import Reply, WebServer

SHOWN = 30
_SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
KINDS = ("feed.xml", "news.xml", "index.xml")


@dataclass
class Posts:
    """The posts so far, by time of publication."""

    origin: str = ""
    times: list[float] = field(default_factory=list)

    def newest(self) -> list[tuple[int, float]]:
        """Numbers and times of the posts that are shown, the newest first."""
        return list(enumerate(self.times))[-SHOWN:][::-1]

    def feed(self) -> bytes:
        """Write them as RSS."""
        items = "".join(
            f"<item><title>Post {n}</title><link>{self.origin}/post/{n}</link>"
            f"<pubDate>{formatdate(at)}</pubDate></item>"
            for n, at in self.newest()
        )
        return f"<rss version='2.0'><channel><title>The feed</title>{items}</channel></rss>".encode()

    def sitemap(self) -> bytes:
        """Write them as a news sitemap."""
        urls = "".join(
            f"<url><loc>{self.origin}/post/{n}</loc><n:news><n:publication><n:name>N</n:name>"
            f"<n:language>en</n:language></n:publication>"
            f"<n:publication_date>{datetime.fromtimestamp(at, UTC).isoformat()}</n:publication_date>"
            f"<n:title>Post {n}</n:title></n:news></url>"
            for n, at in self.newest()
        )
        spaces = f'{_SPACE} xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"'
        return f"<urlset {spaces}>{urls}</urlset>".encode()

    def index(self) -> bytes:
        """Write an index that names the packed sitemap, and never changes."""
        listed = f"<sitemap><loc>{self.origin}/news.xml.gz</loc></sitemap>"
        return f"<sitemapindex {_SPACE}>{listed}</sitemapindex>".encode()


def main() -> None:
    """Publish, follow, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--every", type=float, default=6.0, help="seconds between posts on average")
    options = parser.parse_args()
    settings = {
        "FEED_TICK_SECONDS": "1",
        "FEED_MIN_GAP_SECONDS": "1",
        "FEED_BUDGET_PER_HOUR": "3600",
        "FEED_ARTICLE_PAGES": "0",
        "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
        "FETCH_HOST_SPACING_SECONDS": "0",
    }
    with own_database("sitemaps", None, **settings):
        from tests.servers import WebServer

        with WebServer() as web:
            _follow(web, options.seconds, options.every)


def _follow(web: WebServer, seconds: float, every: float) -> None:
    from articles.models import Article
    from crawler.inline import work_off
    from feeds.adding.add import add_feed
    from feeds.visiting.ticks import tick

    posts = Posts(web.origin, [time.time() - 3600 * n for n in range(SHOWN, 0, -1)])
    web.replies |= {
        "/feed.xml": lambda _: _reply(posts.feed()),
        "/news.xml": lambda _: _reply(posts.sitemap()),
        "/index.xml": lambda _: _reply(posts.index()),
        "/news.xml.gz": lambda _: _reply(gzip.compress(posts.sitemap(), mtime=0)),
    }
    feeds = {name: add_feed(f"{web.origin}/{name}").feed for name in KINDS}
    chance, end = random.Random(1), time.time() + seconds
    following = time.time() + chance.expovariate(1 / every)
    while time.time() < end:
        now = time.time()
        if now >= following:
            posts.times.append(now)
            following = now + chance.expovariate(1 / every)
        tick(datetime.now(UTC))
        work_off()
        time.sleep(max(0.0, 1.0 - (time.time() - now)))
    for name, feed in feeds.items():
        rows = Article.objects.filter(feed=feed, title__startswith="Post ")
        addresses = list(rows.values_list("url", flat=True))
        fresh = [
            row for row in rows.only("published", "fetched") if row.published.timestamp() > end - seconds
        ]
        waited = sorted((row.fetched - row.published).total_seconds() for row in fresh)
        paths = {f"/{name}"} | ({"/news.xml.gz"} if name == "index.xml" else set())
        asked = sum(request.path in paths for request in web.requests)
        twice = len(addresses) - len(set(addresses))
        late = sum(waited) / max(len(waited), 1)
        print(
            f"{name:10} {len(addresses)} articles, {twice} twice; {len(fresh)} of {len(posts.times) - SHOWN} "
            f"that were published meanwhile, {late:.1f} s late on average; {asked} requests"
        )


def _reply(body: bytes) -> Reply:
    from tests.servers import Reply

    return Reply(body, headers={"Content-Type": "application/xml"})


if __name__ == "__main__":
    main()
