"""Precision of mentions: names that the graph knows, looked for in articles, beside what people found right.

    python -m benchmarks.mentions WORLD [--sample 300] [--seed 1] [--out FILE] [--checked FILE]

WORLD is a folder of zip files with sites (`benchmarks/world.py`). Names of people and organisations are
gathered from what pages and feeds say in their markup, as from the graph of a deployment; then they are
looked for in pages and in entries of feeds. `--out` writes a sample with the words around each mention, for
checking by hand; `--checked` is a file of such rows, each with "right": true or false, from which precision
is counted.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pyoxigraph

from articles.things.gazetteer import ORGANISATION, PERSON, Gazetteer, KnownName, Name, gathered
from articles.things.people import name_key, names_of, site_of
from benchmarks.world import Site, sites
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument
from crawler.reading.detect import HTML, XHTML, detect
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed
from crawler.reading.pages import extract_page

AROUND = 90
"""Characters shown on either side of a mention."""
PEOPLE = {"Person"}
ORGANISATIONS = {
    "Organization", "Group", "NewsMediaOrganization", "Corporation", "GovernmentOrganization", "NGO",
    "EducationalOrganization", "CollegeOrUniversity", "SportsTeam", "MusicGroup", "ResearchOrganization",
}  # fmt: skip
Statements = dict[str, list[tuple[str, str, str]]]


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in an entry with the words around it."""

    kind: str
    name: str
    article: str
    words: str


def main() -> None:
    """Gather the names, look for them, and count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("world", type=Path)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--checked", type=Path)
    options = parser.parse_args()
    statements: Statements = {PERSON: [], ORGANISATION: []}
    entries: list[tuple[str, str, str]] = []
    bylines: Counter[str] = Counter()
    for site in sites(options.world):
        for kind, row in _statements(site):
            statements[kind].append(row)
        for url, text, author in _entries(site):
            entries.append((url, text, author))
            bylines.update(dict.fromkeys(names_of(author), 1))
    known = {row.name: row for kind, rows in statements.items() for row in gathered(kind, rows)}
    writers = [Name(PERSON, name) for name, count in bylines.items() if count > 1]
    gazetteer = Gazetteer([*known, *writers])
    began = time.process_time()
    made = (mention for entry in entries for mention in _mentions(*entry, gazetteer, known))
    mentions = list({(mention.name, mention.article): mention for mention in made}.values())
    seconds = time.process_time() - began
    print(f"{len(known)} names of markup, {len(writers)} of bylines; {len(entries)} texts")
    kinds = Counter(mention.kind for mention in mentions)
    print(f"{len(mentions)} mentions {dict(kinds)} of {len({m.name for m in mentions})} names")
    print(f"{1000 * seconds / max(len(entries), 1):.2f} ms of processor time a text")
    if options.out:
        rows = random.Random(options.seed).sample(mentions, min(options.sample, len(mentions)))
        options.out.write_text(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1))
    if options.checked:
        _judge(json.loads(options.checked.read_text()), mentions)


def _statements(site: Site) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield kind, name, document and address of the people and organisations in a site's documents."""
    for address, body in site.files.items():
        verdict = detect(body, "", address)
        try:
            result = transform(SourceDocument(address, verdict.type, body))
        except ReadingError:
            continue
        names: dict[str, str] = {}
        kinds: dict[str, str] = {}
        pages: dict[str, str] = {}
        for quad in pyoxigraph.parse(result.triples.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES):
            subject, predicate = str(quad.subject), quad.predicate.value
            last = predicate.rpartition("/")[2].rpartition("#")[2]
            if last in {"name", "fn"}:
                names[subject] = " ".join(quad.object.value.split())
            elif last in {"url", "homepage", "sameAs"}:
                pages[subject] = quad.object.value
            elif predicate.endswith("#type"):
                kind = quad.object.value.rpartition("/")[2].rpartition("#")[2]
                if kind in PEOPLE | ORGANISATIONS:
                    kinds[subject] = PERSON if kind in PEOPLE else ORGANISATION
        for subject, kind in kinds.items():
            if subject in names:
                yield kind, (names[subject], address, pages.get(subject, ""))


def _entries(site: Site) -> Iterator[tuple[str, str, str]]:
    """Yield address, text and author of a site's entries and pages."""
    for address, body in site.files.items():
        if detect(body, "", address).type in {HTML, XHTML}:
            with suppress(ReadingError):
                article = extract_page(body, url=address)
                yield address, f"{article.title}\n{article.text}", article.author
    for address in site.feeds:
        try:
            document = parse_feed(site.files[address], url=address, content_type="")
        except (ReadingError, KeyError):
            continue
        for entry in document.entries:
            yield entry.url or address, f"{entry.title}\n{entry.text}", entry.author


def _mentions(
    url: str, text: str, author: str, gazetteer: Gazetteer, known: dict[Name, KnownName]
) -> Iterator[Mention]:
    writers = {name_key(name) for name in names_of(author)}
    for name in gazetteer.mentions(text):
        if name_key(name.text) in writers:
            continue
        if name.kind == ORGANISATION and known[name].sites <= {site_of(url)}:
            continue
        at = text.find(name.text)
        words = text[max(0, at - AROUND) : at + len(name.text) + AROUND] if at >= 0 else ""
        yield Mention(name.kind, name.text, url, " ".join(words.split()))


def _judge(rows: list[dict[str, object]], mentions: list[Mention]) -> None:
    """Print how many of the checked mentions that are still made were found right."""
    made = {(mention.kind, mention.name, mention.article) for mention in mentions}
    checked = [row for row in rows if (row["kind"], row["name"], row["article"]) in made]
    right = sum(bool(row["right"]) for row in checked)
    print(f"{right} of {len(checked)} checked mentions are right: {right / max(len(checked), 1):.1%}")


if __name__ == "__main__":
    main()
