"""A recorded world, read whole in a control group with little memory.

    python -m benchmarks.small_memory --opml FILE [--megabytes 600] [--seconds 1200]

Starts the product in a control group of the kernel (which needs root), adds the feeds of the OPML file, which
somebody serves outside the group, and waits until every feed and article page was asked for, and all of it is
enriched and in the graph. Prints what the kernel killed, what the supervisor started again, and the most
memory that was used. Exits with 1 when something was not read, or the supervisor itself was killed.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.footprint import Product, product_in

GROUPS = Path("/sys/fs/cgroup")
STATE = """
from articles.enrichment.models import Enrichment
from articles.models import Article, Page
from crawler.pipeline.models import Document
from feeds.models import Feed
feeds = Feed.objects.filter(last_attempt__isnull=True).count()
pages = Page.objects.filter(status="waiting", attempts=0).count()
documents = Document.objects.exclude(state__in=["done", "dead"]).count()
unread = Article.objects.count() - Enrichment.objects.exclude(state="waiting").count()
print(feeds, pages, documents, unread, Article.objects.count(), Page.objects.filter(status="stored").count())
"""
SETTINGS = {
    "FEED_TICK_SECONDS": "20",
    "FEED_ARTICLE_PAGES": "yes",
    "FETCH_HOST_SPACING_SECONDS": "0.1",
}


def main() -> int:
    """Run the product in its group and print what became of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--opml", required=True, type=Path)
    parser.add_argument("--megabytes", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=1200.0, help="that all may take (default 1200)")
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="freshet-small-"))
    work.chmod(0o711)
    try:
        with control_group(options.megabytes) as group, product_in(work) as product:
            product.environment |= SETTINGS
            product.group = group
            return run(product, group, options)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def run(product: Product, group: Path, options: argparse.Namespace) -> int:
    """Read the world; return the exit status."""
    print(f"ready after {product.start():.0f} s in {options.megabytes} MB", flush=True)
    product.manage("add_feeds", "--opml", str(options.opml.resolve()))
    began = time.monotonic()
    state = _state(product)
    while any(state[:4]) and time.monotonic() - began < options.seconds:
        time.sleep(10)
        state = _state(product)
        if product.process is None or product.process.poll() is not None:
            print("the supervisor has ended")
            break
    feeds, pages, documents, unread, articles, stored = state
    print(
        f"{articles} articles and {stored} pages stored after {time.monotonic() - began:.0f} s; left: ",
        end="",
    )
    print(f"{feeds} feeds, {pages} pages, {documents} documents, {unread} to enrich")
    log = (product.work / "log").read_text(errors="replace")
    ended = Counter(re.findall(r"^\S+ (\S+) ended \((.*?)\)", log, re.MULTILINE))
    print(f"killed by the kernel: {killed_for_memory(group)}; started again: ", end="")
    print(", ".join(f"{name} ({reason}) {count}" for (name, reason), count in ended.items()) or "nothing")
    print(f"most memory: {peak_of(group) / 2**20:.0f} MB")
    alive = product.process is not None and product.process.poll() is None
    return 0 if alive and not any(state[:4]) else 1


def _state(product: Product) -> list[int]:
    words = product.manage("shell", "-v", "0", "-c", STATE).split()[-6:]
    return [int(word) for word in words]


@contextmanager
def control_group(megabytes: int) -> Iterator[Path]:
    """Make a group with this much memory and no swap; of either version of control groups."""
    first = (GROUPS / "memory").is_dir()
    group = Path(tempfile.mkdtemp(prefix="freshet-", dir=GROUPS / "memory" if first else GROUPS))
    (group / ("memory.limit_in_bytes" if first else "memory.max")).write_text(str(megabytes * 2**20))
    try:
        yield group
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


def peak_of(group: Path) -> int:
    """Return the most bytes that the group has used."""
    names = ("memory.max_usage_in_bytes", "memory.peak")
    return next(int((group / name).read_text()) for name in names if (group / name).exists())


def killed_for_memory(group: Path) -> int:
    """Return how many processes the kernel has killed for want of memory."""
    for name in ("memory.oom_control", "memory.events"):
        if (group / name).exists() and (count := re.search(r"oom_kill (\d+)", (group / name).read_text())):
            return int(count[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
