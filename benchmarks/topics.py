"""Learned topics of articles beside two baselines, on entries whose tags say what they are about.

    python -m benchmarks.topics WORLD [--share 0.7]

WORLD is a folder of zip files with sites (`benchmarks/world.py`). Entries with a tag that means a topic are
ordered by their date: the classifier learns from the older share, and its guesses for the newer ones, made
from title and text alone, are compared with the topics of their tags. Beside it stand the most frequent topic
of the older entries, and the most frequent one of the same feed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from articles.enrichment.categories import SURE, Categories, example
from articles.enrichment.topics import topic_of
from benchmarks.world import sites
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed

AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class LabelledEntry:
    """An entry with the topic of its tags."""

    published: float
    feed: str
    text: str
    topic: str


def main() -> None:
    """Learn from the older entries, judge on the newer ones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("world", type=Path)
    parser.add_argument("--share", type=float, default=0.7, help="of the entries that is learned from")
    options = parser.parse_args()
    entries, count, tagged = _labelled(options.world)
    print(f"{count} entries, {tagged} with tags, {len(entries)} whose tags mean a topic")
    older, newer = entries[: int(len(entries) * options.share)], entries[int(len(entries) * options.share) :]
    print("topics of the newer ones:", dict(Counter(entry.topic for entry in newer).most_common()))
    classifier, began = Categories(), time.process_time()
    for start in range(0, len(older), AT_ONCE):
        part = older[start : start + AT_ONCE]
        classifier.learn([entry.text for entry in part], [entry.topic for entry in part])
    guesses = [name for name, _ in classifier.guess([entry.text for entry in newer])]
    seconds = time.process_time() - began
    frequent = Counter(entry.topic for entry in older).most_common(1)[0][0]
    of_feeds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for entry in older:
        of_feeds[entry.feed][entry.topic] += 1
    by_feed = [of_feeds[entry.feed].most_common(1)[0][0] if entry.feed in of_feeds else "" for entry in newer]
    _judge(f"learned, at least {SURE} sure", guesses, newer)
    _judge("most frequent", [frequent] * len(newer), newer)
    _judge("most frequent of the feed", by_feed, newer)
    print(f"{seconds:.1f} s of processor time for {len(older)} lessons and {len(newer)} guesses")


def _labelled(world: Path) -> tuple[list[LabelledEntry], int, int]:
    """Return entries whose tags mean a topic, the oldest first, the number of all and of tagged ones."""
    entries: dict[str, LabelledEntry] = {}
    count = tagged = 0
    for site in sites(world):
        for address in site.feeds:
            try:
                document = parse_feed(site.files[address], url=address, content_type="")
            except (ReadingError, KeyError):
                continue
            for entry in document.entries:
                count += 1
                tagged += bool(entry.categories)
                topic, _ = topic_of(entry.categories)
                if topic and entry.published:
                    text = example(entry.title, entry.text)
                    entries[entry.url or entry.identity] = LabelledEntry(
                        entry.published, address, text, topic
                    )
    return sorted(entries.values(), key=lambda entry: entry.published), count, tagged


def _judge(method: str, guesses: list[str], entries: list[LabelledEntry]) -> None:
    """Print how many entries a method gives a topic, and how many of these rightly."""
    guessed = [(guess, entry.topic) for guess, entry in zip(guesses, entries, strict=True) if guess]
    right = sum(guess == topic for guess, topic in guessed)
    shown = f"{right / len(guessed):.1%} of them right" if guessed else ""
    print(f"{method:28} {len(guessed):5} of {len(entries)} get a topic, {shown}; {right / len(entries):.1%}")


if __name__ == "__main__":
    main()
