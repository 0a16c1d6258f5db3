"""How well the main text of pages is found, beside trafilatura as it comes.

    python -m benchmarks.main_text WORLD
    python -m benchmarks.main_text --made 200

WORLD is a folder of zip files with sites (`benchmarks/world.py`). Where a feed gives an article's whole
content, that is what its page should say: precision and recall of words (of characters in scripts without
spaces), as means over articles. Pages of several entries, and parts of pages, are left out. `--made` takes
pages of our own making instead (`benchmarks/made_pages.py`). A page that is refused counts as found nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import trafilatura

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DATABASE_URL", "none")

from benchmarks.made_pages import made_pages
from benchmarks.world import Site, sites
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed
from crawler.reading.pages.maintext import main_text
from crawler.reading.pages.tree import page_tree, text_of

NOTE, LONG = 60, 150
"""Words of the longest note, and of the shortest text that is called long."""


def main() -> None:
    """Read every page in every way, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("world", type=Path, nargs="?")
    parser.add_argument("--made", type=int, default=0, metavar="N", help="so many pages made here")
    options = parser.parse_args()
    if (options.world is None) == (not options.made):
        parser.error("either a WORLD or --made N")
    told: dict[tuple[str, str], list[tuple[float, float]]] = {}
    seconds = dict.fromkeys(WAYS, 0.0)
    for body, content in _made(options.made) if options.made else _of_world(options.world):
        wanted = _words(content)
        for name, way in WAYS.items():
            began = time.process_time()
            found = _words(way(body))
            seconds[name] += time.process_time() - began
            told.setdefault((_size(wanted), name), []).append(_judged(found, wanted))
    print("| texts | way | articles | precision | recall | F1 |\n|---|---|---|---|---|---|")
    for (size, name), figures in sorted(told.items()):
        precision, recall, f1 = _means(figures)
        print(f"| {size} | {name} | {len(figures)} | {precision:.3f} | {recall:.3f} | {f1:.3f} |")
    print("processor time:", ", ".join(f"{name} {taken:.1f} s" for name, taken in seconds.items()))


def _pages(site: Site) -> Iterator[tuple[bytes, str]]:
    """Bodies of pages with the text that a feed gives in full."""
    seen: set[str] = set()
    for address in site.feeds:
        try:
            entries = parse_feed(site.files[address], url=address, content_type="").entries
        except (ReadingError, KeyError):
            continue
        named = Counter(entry.url for entry in entries)
        for entry in entries:
            body = site.page(entry.url)
            alone = named[entry.url] == 1 and "#" not in entry.url and entry.url not in seen
            if alone and body and entry.content and entry.text:
                seen.add(entry.url)
                yield body, entry.text


def _of_world(world: Path) -> Iterator[tuple[bytes, str]]:
    for site in sites(world):
        yield from _pages(site)


def _made(count: int) -> Iterator[tuple[bytes, str]]:
    return ((page.encode(), text) for page, text in made_pages(count))


def _ours(body: bytes) -> str:
    try:
        root = page_tree(text_of(body, ""))
    except ReadingError:
        return ""
    return "" if root is None else main_text(root)


def _trafilatura(body: bytes, *, fast: bool) -> str:
    text = text_of(body, "")
    return trafilatura.extract(text, fast=fast, include_comments=False, include_tables=True) or ""


WAYS: dict[str, Callable[[bytes], str]] = {
    "freshet": _ours,
    "trafilatura, fast": partial(_trafilatura, fast=True),
    "trafilatura": partial(_trafilatura, fast=False),
}


def _words(text: str) -> Counter[str]:
    words = re.findall(r"\w+", text.lower())
    return Counter(piece for word in words for piece in ([word] if word[0] < "\u2e80" else word))


def _size(words: Counter[str]) -> str:
    total = words.total()
    return "notes" if total < NOTE else "short" if total < LONG else "long"


def _judged(found: Counter[str], wanted: Counter[str]) -> tuple[float, float]:
    """Precision and recall."""
    both = (found & wanted).total()
    return both / max(1, found.total()), both / wanted.total()


def f1(found: str, wanted: str) -> float:
    """Harmonic mean of precision and recall of the words found, 0 when none is right."""
    precision, recall = _judged(_words(found), _words(wanted))
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _means(figures: list[tuple[float, float]]) -> tuple[float, float, float]:
    count = len(figures)
    harmonic = sum(2 * p * r / (p + r) for p, r in figures if p + r)
    return sum(p for p, _ in figures) / count, sum(r for _, r in figures) / count, harmonic / count


if __name__ == "__main__":
    main()
