"""Enrichment of real articles: languages, throughput, and whether stories are right.

    python -m benchmarks.enrichment WORLD

WORLD is a folder of zip files with sites (`benchmarks/world.py`). All entries of all feeds are stored, their
pages read out of the zips (main text and all), and everything enriched in this process with an embedded
PostgreSQL of its own. Throughput is of this process's processor time. Languages are compared with labels that
owe nothing to the detector. Stories are judged on labelled articles: one page in several feeds is one story;
copies that this command edits (words changed, sentences cut, another title and address) are their originals'
story; what has the same title with another text, and every other pair of articles, is not.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from django.conf.locale import LANG_INFO

from benchmarks.database import own_database
from benchmarks.world import Site, sites

NOW = datetime(2026, 3, 1, tzinfo=UTC)
COPIES = 300
MADE = ("Copies", "Mistitled")
TELLING = {"uk": frozenset("іїєґ"), "ru": frozenset("ыэёъ")}
"""Letters that only one of two languages in one script has."""
LONG_ENOUGH = 120
"""Words of a text that is copied, edited and mistitled for the labelled set."""


def main() -> None:
    """Store, read, enrich, judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("world", type=Path)
    options = parser.parse_args()
    with own_database("enrichment"):
        read, articles = 0.0, 0
        languages: dict[str, str] = {}
        for site in sites(options.world):
            stored, seconds = _store(site)
            articles, read = articles + stored, read + seconds
            languages[site.base] = site.language
        labels = _labelled(random.Random(11))
        own = time.process_time()
        made = _enrich()
        enriched = time.process_time() - own
        print(f"{articles} entries of feeds, with {made - articles} copies and mistitled ones made here")
        print(f"main text, language and metadata of their pages: {read:.1f} s of processor time")
        print(f"enrichment: {enriched:.1f} s of processor time, {made / enriched:.0f} articles a second")
        print(f"both: {made / (read + enriched):.0f} articles a second on one core")
        _tell_state()
        _judge_languages(languages)
        _judge_stories(labels)


def _store(site: Site) -> tuple[int, float]:
    """Store a site's entries and read their pages; how many entries, and processor seconds for the pages."""
    from articles.intake import Arrival, store_arrivals
    from crawler.fetching.http.urls import canonical_url
    from crawler.reading.errors import ReadingError
    from crawler.reading.feeds import parse_feed
    from feeds.models import Feed
    from tests.factories import make_feed

    stored = 0
    for address in site.feeds:
        try:
            document = parse_feed(site.files[address], url=address, content_type="")
        except (ReadingError, KeyError):
            continue
        if Feed.objects.filter(canonical_url=canonical_url(address)).exists():
            continue  # one feed under two names
        feed: Feed = make_feed(address, title=document.title)
        arrival = Arrival(feed.pk, NOW.timestamp(), None, document.language, tuple(document.entries), ())
        stored += store_arrivals([arrival])[feed.pk].new
    return stored, _read_pages(site)


def _read_pages(site: Site) -> float:
    """Read the main text of the pages that are in the zip; processor seconds."""
    from django.db import transaction

    from articles.models import Page
    from articles.pages import check_in_pages
    from crawler.messages import Harvest
    from crawler.reading.errors import ReadingError
    from crawler.reading.pages import extract_page

    seconds = 0.0
    for page in Page.objects.filter(status="waiting", lease__isnull=True):
        body = site.page(page.url)
        if body is None:
            continue
        began = time.process_time()
        try:
            found = extract_page(body, url=page.url)
        except ReadingError:
            continue
        seconds += time.process_time() - began
        page.lease = uuid.uuid4()
        page.save(update_fields=["lease"])
        harvest = Harvest("page", page.pk, NOW.timestamp(), page.url, status=200, payload=found)
        with transaction.atomic():
            check_in_pages([harvest], [page.lease], 0.0)
    return seconds


def _labelled(dice: random.Random) -> dict[int, tuple[Any, ...]]:
    """What story each article is, by its primary key; adds edited copies and mistitled articles."""
    from articles.models import Article
    from tests.factories import make_article, make_feed

    labels: dict[int, tuple[Any, ...]] = {}
    seen: Counter[tuple[int, int | None]] = Counter()
    rows = list(Article.objects.select_related("page").defer("search", "page__html", "page__text"))
    for row in rows:
        seen[row.feed_id, row.page_id] += 1
    for row in rows:
        # Several entries of one feed with one page are not that page: comments, notes on a front page.
        alone = row.page_id is not None and seen[row.feed_id, row.page_id] == 1 and "#" not in row.url
        labels[row.pk] = ("page", row.page_id) if alone else ("entry", row.pk)
    long = [row for row in rows if len(row.text.split()) >= LONG_ENOUGH and labels[row.pk][0] == "page"]
    by_text = {row.text: row for row in long}
    originals = dice.sample(sorted(by_text.values(), key=lambda row: row.pk), min(COPIES, len(by_text)))
    copies, mistitled = make_feed(title="Copies"), make_feed(title="Mistitled")
    for number, row in enumerate(originals):
        copy = make_article(
            copies, title=f"As seen elsewhere: {row.title}"[:300] if number % 2 else row.title,
            text=_edited(row.text, dice, (0.01, 0.03, 0.06, 0.1)[number % 4]),
            language=row.language, published=row.published,
        )  # fmt: skip
        labels[copy.pk] = labels[row.pk]
        other = originals[(number + 1) % len(originals)]
        wrong = make_article(
            mistitled, title=row.title, text=_shuffled(other.text, dice), language=other.language,
            published=row.published,
        )  # fmt: skip
        labels[wrong.pk] = ("mistitled", wrong.pk)
    return labels


def _edited(text: str, dice: random.Random, share: float) -> str:
    """Every so many words another, some sentences gone."""
    lines = [line for line in text.split("\n") if dice.random() > share]
    words = "\n".join(lines).split(" ")
    return " ".join("edited" if dice.random() < share / 2 else word for word in words)


def _shuffled(text: str, dice: random.Random) -> str:
    """The same words, another text: as near as a text about the same can be."""
    words = text.split()
    dice.shuffle(words)
    return " ".join(words)


def _enrich() -> int:
    from articles.enrichment.enrich import enrich

    made = 0
    while taken := enrich(NOW):
        made += taken
    return made


def _tell_state() -> None:
    from articles.enrichment.figures import figures
    from articles.enrichment.models import Enrichment

    told = figures()
    empty = Enrichment.objects.filter(state="done", terms=[]).exclude(article__text="").count()
    print(
        f"{told['done']} enriched, {told['waiting']} waiting, {told['failed']} failed; "
        f"{empty} with text and no keyword"
    )


def _judge_languages(languages: dict[str, str]) -> None:
    """Of the sites' articles, by each site's address and language."""
    from articles.models import Article

    right = articles = agreeing = 0
    for base, language in languages.items():
        found: Counter[tuple[str, str]] = Counter()
        rows = Article.objects.filter(feed__url__startswith=base)
        for url, title, text, tag in rows.values_list("url", "title", "text", "language"):
            label = _written_in(f"{title} {text}", url.removeprefix(base), language)
            found[label, tag.partition("-")[0].lower()] += 1
        same = sum(number for (label, tag), number in found.items() if label == tag)
        right += 2 * same > found.total()
        agreeing, articles = agreeing + same, articles + found.total()
        labels = ", ".join(sorted({label for label, _ in found}))
        others = {f"{label} as {tag or '?'}": n for (label, tag), n in found.items() if label != tag}
        if others or "," in labels:
            print(f"  {base}: {same} of {found.total()} as labelled ({labels}), else {others}")
    print(f"language: as labelled for most articles on {right} of {len(languages)} sites")
    print(f"  {agreeing} of {articles} articles of all sites as labelled")


def _written_in(text: str, path: str, site: str) -> str:
    """A label that owes nothing to the detector: letters of one language, the address, else the site's."""
    telling = {language for language, letters in TELLING.items() if letters & set(text.lower())}
    if len(telling) == 1:
        return telling.pop()
    named = path.lstrip("/").partition("/")[0]
    return named if named in LANG_INFO else site.partition("-")[0].lower()


def _judge_stories(labels: dict[int, tuple[Any, ...]]) -> None:
    """Precision over labelled pairs that share a story; recall over all pairs that should."""
    from articles.enrichment.models import Enrichment
    from articles.models import Article

    made = set(Article.objects.filter(feed__title__in=MADE).values_list("pk", flat=True))
    story = dict(Enrichment.objects.exclude(story=None).values_list("pk", "story_id"))
    titles = dict(Article.objects.values_list("pk", "title"))
    right = wrong = unknown = 0
    examples = []
    for one, other in _pairs(story):
        if labels[one] == labels[other]:
            right += 1
        elif labels[one][0] == labels[other][0] == "page" and _akin(titles[one], titles[other]):
            unknown += 1  # a site's own second copy under another address: nobody has labelled it
        else:
            wrong += 1
            examples.append((one, other))
    found: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for one, other in _pairs(labels):
        kind = "edited copies" if {one, other} & made else "one page in several feeds"
        wanted[kind] += 1
        found[kind] += one in story and story[one] == story.get(other)
    print(f"stories: {len(set(story.values()))} of {len(story)} articles")
    judged = right + wrong
    print(f"precision {right / max(judged, 1):.4f} ({right} of {judged} labelled pairs in stories)")
    print(f"  {unknown} more have nearly one title and one text at two addresses of a site: no label")
    for kind, count in wanted.items():
        print(f"recall {found[kind] / count:.4f}: {found[kind]} of {count} pairs of {kind}")
    for one, other in examples[:20]:
        print("  not one:", _named(one), "|", _named(other))


def _akin(one: str, other: str) -> bool:
    """Whether one of two titles is in the other."""
    first, second = (
        frozenset(word.strip('"') for word in title.casefold().split()) for title in (one, other)
    )
    return bool(first and second) and (first <= second or second <= first)


def _pairs(groups: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """Pairs of articles in one group."""
    members: defaultdict[Any, list[int]] = defaultdict(list)
    for key, group in groups.items():
        members[group].append(key)
    for keys in members.values():
        yield from combinations(sorted(keys), 2)


def _named(pk: int) -> str:
    from articles.models import Article

    row: Any = Article.objects.select_related("feed").get(pk=pk)
    return f"{row.title[:50]!r} {row.url[-50:]} in {row.feed.url[-40:]}"


if __name__ == "__main__":
    main()
