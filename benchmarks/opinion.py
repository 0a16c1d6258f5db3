"""Where feedparser reads the feeds of captured sites otherwise than Freshet, by kind, with examples.

    python -m benchmarks.opinion ../shared/data/world [--examples 3]

FOLDER holds zip files of sites, or lines of JSON whose texts are documents (*.jsonl). Each file that may be
a feed is read by both readers. A known reason stands behind its kind (`reason`); what is left is to be looked
at: where feedparser is right, our reader has a bug.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crawler.reading.documents import Disagreement
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed
from crawler.reading.feeds.opinion import second_opinion

NAMES = (".xml", ".rss", ".atom", ".rdf")
_FEED = re.compile(r"<(?:rss|feed|rdf:rdf|channel)\b", re.IGNORECASE)
_NAMED_ZONE = re.compile(rb"\d\s+(?:[A-Z][A-Za-z.]+ ){1,3}Time\b|[\dm]\s+[A-Z]{1,5}\s*</")


def documents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield address and bytes of everything in a folder's archives and lists that may be a feed."""
    for path in sorted(folder.glob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            base = json.loads(archive.read("manifest.json"))["base_url"].rstrip("/")
            for name in archive.namelist():
                if name.endswith(NAMES):
                    yield f"{base}/{name}", archive.read(name)
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            for text in texts(json.loads(line)):
                yield f"https://host.example/{path.name}/{number}", text.encode("utf-8", "replace")


def texts(value: Any) -> Iterator[str]:
    """Yield the texts within JSON that look like feeds."""
    if isinstance(value, str):
        if _FEED.search(value):
            yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def reason(disagreement: Disagreement, body: bytes) -> str:
    """Return why the readers differ if that is known and feedparser is not right, else ""."""
    if disagreement.kind == "date" and _NAMED_ZONE.search(body):
        return "feedparser takes a time whose zone is written as a name for one in UTC"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="with the archives of sites")
    parser.add_argument("--examples", type=int, default=3, help="of each kind")
    options = parser.parse_args()
    kinds: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], list[tuple[str, Disagreement]]] = defaultdict(list)
    feeds = disagreeing = entries = 0
    ours = theirs = 0.0
    for address, body in documents(options.folder):
        began = time.process_time()
        try:
            document = parse_feed(body, url=address)
        except ReadingError:
            continue
        between = time.process_time()
        found = second_opinion(body, "", address, document, limit=1_000)
        ours, theirs = ours + between - began, theirs + time.process_time() - between
        feeds, entries, disagreeing = feeds + 1, entries + document.size, disagreeing + bool(found)
        for disagreement in found:
            named = (disagreement.kind, reason(disagreement, body))
            kinds[named] += 1
            examples[named].append((address, disagreement))
    print(f"{feeds} feeds with {entries} entries; the readers disagree about {disagreeing} of the feeds.")
    each = 1000 / max(feeds, 1)
    print(
        f"A feed took our reader {ours * each:.1f} ms, feedparser with the comparison {theirs * each:.1f} ms."
    )
    for name in ("count", "identity", "date", "link"):
        print(f"{name}: {sum(number for (kind, _), number in kinds.items() if kind == name)}")
        for (kind, why), number in kinds.items():
            if kind != name:
                continue
            print(f"  {number}: {why or 'to be looked at'}")
            for address, disagreement in examples[kind, why][: options.examples]:
                print(f"    {address}\n      ours   {disagreement.ours}\n      theirs {disagreement.theirs}")


if __name__ == "__main__":
    main()
