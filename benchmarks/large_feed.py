"""Processor time of parsing one feed of 1,000 entries and 2.9 MB, and what nh3 alone needs for its markup.

    python -m benchmarks.large_feed [--entries 1000] [--megabytes 2.9] [--runs 9]

Each entry has a title, a summary, a category and HTML with an image, a list and links, half of them relative.
The median of the runs is given; nh3, which decides what markup is safe, is also timed by itself.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from html import escape
from itertools import count
from statistics import median

import nh3

from benchmarks.feed_server import WORDS, paragraph
from benchmarks.goals import Goal
from crawler.reading.feeds.parse import parse_feed

URL = "https://feeds.example.org/large.xml"
GOAL = 120.0  # milliseconds
BESIDE = 480  # bytes of an entry beside its content


def fragment(seed: int, length: int) -> str:
    """Return the HTML of one entry, of so many characters when it is escaped."""
    listed = "".join(f"<li>{paragraph(seed + n, 5)}</li>" for n in range(3))
    pieces = [
        f"<p><img src='/pictures/{seed}.jpg' alt='A picture' width='640' height='480'></p><ul>{listed}</ul>"
    ]
    left = length - len(escape(pieces[0])) - len(escape("<p></p>"))
    for number in count():
        site = "" if number % 2 else "https://news.example.org"
        words = f"{paragraph(seed + number, 40)} <b>{WORDS[number % len(WORDS)]}</b> &amp; more"
        piece = f"<p>{words} <a href='{site}/more/{seed}/{number}'>here</a>.</p>"
        if len(escape(piece)) > left:
            return "".join([*pieces, f"<p>{'x' * max(left, 0)}</p>"])
        pieces.append(piece)
        left -= len(escape(piece))
    raise AssertionError("count() has no end")


def document(entries: int, size: int) -> tuple[bytes, list[str]]:
    """Return an RSS 2.0 document of about so many bytes, and the HTML of each entry."""
    fragments = [fragment(number, size // entries - BESIDE) for number in range(entries)]
    rows = [
        f"<item><title>{paragraph(number, 8)}</title><link>https://news.example.org/{number}</link>"
        f"<guid isPermaLink='false'>large-{number}</guid><dc:creator>Author {number % 97}</dc:creator>"
        f"<category>{WORDS[number % len(WORDS)]}</category><pubDate>Sat, 28 Nov 2026 09:00:00 GMT</pubDate>"
        f"<description>{paragraph(number, 20)}</description>"
        f"<content:encoded>{escape(markup)}</content:encoded></item>"
        for number, markup in enumerate(fragments)
    ]
    head = (
        "<?xml version='1.0' encoding='utf-8'?><rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'"
        " xmlns:content='http://purl.org/rss/1.0/modules/content/'><channel><title>Large</title>"
        "<link>https://news.example.org/</link><description>A benchmark</description>"
    )
    return f"{head}{''.join(rows)}</channel></rss>".encode(), fragments


def milliseconds(work: Callable[[], object], runs: int) -> float:
    """Return the median processor time of a call."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        work()
        times.append(1000 * (time.process_time() - started))
    return median(times)


def main() -> None:
    """Time parsing, and nh3 alone."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entries", type=int, default=1000)
    parser.add_argument("--megabytes", type=float, default=2.9)
    parser.add_argument("--runs", type=int, default=9)
    args = parser.parse_args()
    body, fragments = document(args.entries, int(1e6 * args.megabytes))
    read = parse_feed(body, url=URL)
    if len(read.entries) != args.entries or not all(entry.content for entry in read.entries):
        raise SystemExit("not all entries were read")
    whole = milliseconds(lambda: parse_feed(body, url=URL), args.runs)
    alone = milliseconds(lambda: [nh3.clean(markup) for markup in fragments], args.runs)
    print(f"{len(body) / 1e6:.2f} MB, {args.entries} entries")
    print(Goal("parsing, processor time", whole, GOAL, "ms", most=True))
    print(f"{'of it nh3 alone, on the same markup':46} {alone:10.2f} ms")


if __name__ == "__main__":
    main()
