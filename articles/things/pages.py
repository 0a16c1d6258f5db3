"""The contents of the page of a person, a topic or a site: its articles and its neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.db.models import Count, Q
from django.db.models.functions import TruncMonth
from django.urls import reverse

from articles.enrichment.models import Enrichment
from articles.enrichment.topics import BY_NAME
from articles.models import Article, Subscriber
from articles.personal.marking import unread_by
from articles.search import author_query
from articles.things.evidence import addresses_of
from articles.things.named import NamedThing, known_organisation, known_person, named_in
from articles.things.people import Person, merged, name_key, names_of, site_of
from crawler.text.search import SearchError

MAX_ARTICLES = 2_000
"""The newest articles of a thing that are counted and listed."""
MAX_AROUND = 12
MONTHS = 12


@dataclass(slots=True)
class Thing:
    """A thing with its newest articles.

    `search` is the search that finds them, for keeping and for notifications. `follow` is the kind and value
    of a topic to follow, None if there is none. `others` are the people of that name elsewhere. `pages`
    are an organisation's addresses.
    """

    kind: str
    name: str
    articles: list[int]
    search: str
    follow: tuple[str, str] | None = None
    person: Person | None = None
    others: list[Person] = field(default_factory=list)
    addresses: dict[str, frozenset[str]] = field(default_factory=dict)
    pages: list[str] = field(default_factory=list)

    @property
    def scheme_address(self) -> str:
        """The topic's address in IPTC's Media Topics, empty for other things."""
        topic = BY_NAME.get(self.name) if self.kind == "topic" else None
        return topic.address if topic else ""

    @property
    def said(self) -> list[SaidAddress]:
        """The addresses that sites give as the thing's, with who says so, what most say first."""
        sites: dict[str, list[str]] = {}
        for site, site_addresses in sorted(self.addresses.items()):
            for address in sorted(site_addresses):
                sites.setdefault(address, []).append(site)
        rows = [
            SaidAddress(address, site_names, len(site_names) < len(self.addresses))
            for address, site_names in sites.items()
        ]
        return sorted(rows, key=lambda row: (-len(row.sites), row.address))


@dataclass(frozen=True, slots=True)
class SaidAddress:
    """An address that sites give as somebody's, and whether other sites that give some leave it out."""

    address: str
    sites: list[str]
    is_disputed: bool


def person_address(name: str, site: str = "") -> str:
    """Return the address of a person's page."""
    address = reverse("thing-person", args=[name[:200]])
    return f"{address}?site={quote(site, safe='')}" if site else address


def topic_thing(name: str) -> Thing | None:
    """Return a category, a keyword or a tag by its name, None if no article has it."""
    name = " ".join(name.split())
    enriched = Enrichment.objects.order_by("-article")
    keys = set(enriched.filter(category=name).values_list("article", flat=True)[:MAX_ARTICLES])
    keys |= set(
        enriched.filter(terms__contains=[name.casefold()]).values_list("article", flat=True)[:MAX_ARTICLES]
    )
    tagged = Article.objects.filter(categories__overlap=list({name, name.lower()})).order_by("-pk")
    keys |= set(tagged.values_list("pk", flat=True)[:MAX_ARTICLES])
    articles = _newest(keys)
    if not articles:
        return None
    kind = "category" if name in BY_NAME or enriched.filter(category=name).exists() else "keyword"
    return Thing("topic", name, articles, f'topic:"{name}"', (kind, name))


def site_thing(host: str) -> Thing | None:
    """Return a site by its host, None if no article is from there."""
    host = host.lower().removeprefix("www.")
    hosts = [host, f"www.{host}"]
    rows = Article.objects.order_by("-pk")
    keys = set(rows.filter(page__host__name__in=hosts).values_list("pk", flat=True)[:MAX_ARTICLES])
    keys |= set(rows.filter(feed__host__name__in=hosts).values_list("pk", flat=True)[:MAX_ARTICLES])
    articles = _newest(keys)
    return Thing("site", host, articles, f"site:{host}", ("site", host)) if articles else None


def organisation_thing(name: str) -> Thing | None:
    """Return an organisation by its name with the articles that name it, None for one nobody describes."""
    entry = known_organisation(name)
    if entry is None:
        return None
    words = entry.name.replace(chr(34), " ")
    try:
        rows = Article.objects.search(f'"{words}"').newest_first()
    except SearchError:
        return None
    articles = list(rows.values_list("pk", flat=True)[:MAX_ARTICLES])
    return Thing("organisation", entry.name, articles, f'"{words}"', pages=entry.addresses)


def person_thing(name: str, site: str = "") -> Thing | None:
    """Return a person by name, on the given site or where most is written; None for an unknown one."""
    keys: dict[str, list[int]] = {}
    spellings: Counter[str] = Counter()
    for pk, url, byline in _written_by(name):
        spelling = next((part for part in names_of(byline) if name_key(part) == name_key(name)), None)
        if spelling:
            keys.setdefault(site_of(url), []).append(pk)
            spellings[spelling] += 1
    if not keys:
        return _named_person(name)
    sites = sorted(keys, key=lambda site: (-len(keys[site]), site))
    spelling = spellings.most_common(1)[0][0]
    addresses = addresses_of(name, sites)
    people = merged(spelling, sites, addresses)
    chosen = next((person for person in people if site.removeprefix("www.") in person.sites), people[0])
    articles = _newest(key for own_site in chosen.sites for key in keys[own_site])
    others = [person for person in people if person is not chosen]
    search = f'author:"{spelling}"' + (f" site:{chosen.sites[0]}" if others else "")
    own_addresses = {own_site: addresses[own_site] for own_site in chosen.sites if own_site in addresses}
    return Thing("person", spelling, articles, search, person=chosen, others=others, addresses=own_addresses)


def _named_person(name: str) -> Thing | None:
    """Return a person who wrote nothing here and whom articles name, None for an unknown one."""
    spelling = known_person(name)
    if spelling is None:
        return None
    words = spelling.replace(chr(34), " ")
    rows = Article.objects.search(f'"{words}"').newest_first()
    articles = list(rows.values_list("pk", flat=True)[:MAX_ARTICLES])
    return Thing("person", spelling, articles, f'"{words}"') if articles else None


def _written_by(name: str) -> list[tuple[int, str, str]]:
    """Return key, address and byline of the newest articles whose byline has the words of a name."""
    try:
        query = author_query(f'"{name.replace(chr(34), " ")}"')
    except SearchError:
        return []
    rows = Article.objects.filter(search=query).newest_first()
    return list(rows.values_list("pk", "url", "author")[:MAX_ARTICLES])


def _newest(keys: Iterable[int]) -> list[int]:
    rows = Article.objects.filter(pk__in=list(keys)).newest_first()
    return list(rows.values_list("pk", flat=True)[:MAX_ARTICLES])


def unread_count(thing: Thing, subscriber: Subscriber) -> int:
    """Return how many of a thing's articles the subscriber has not read."""
    return Article.objects.filter(unread_by(subscriber), pk__in=thing.articles).count()


def months(thing: Thing, now: datetime) -> list[tuple[datetime, int]]:
    """Return the first day of each of the last twelve months, and the articles published in it."""
    firsts = [now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)]
    while len(firsts) < MONTHS:
        month = firsts[0].month - 1 or 12
        firsts.insert(0, firsts[0].replace(month=month, year=firsts[0].year - (month == 12)))
    rows = Article.objects.filter(pk__in=thing.articles, published__gte=firsts[0]).order_by()
    counted = rows.annotate(month=TruncMonth("published")).values_list("month").annotate(number=Count("pk"))
    numbers = {(month.year, month.month): number for month, number in counted}
    return [(first, numbers.get((first.year, first.month), 0)) for first in firsts]


def feeds_of(thing: Thing) -> list[dict[str, Any]]:
    """Return the feeds that most of the articles are in: key, title, address and count."""
    rows = Article.objects.filter(pk__in=thing.articles).order_by()
    counted = rows.values("feed", "feed__title", "feed__url").annotate(number=Count("pk"))
    return [dict(row) for row in counted.order_by("-number", "feed")[:MAX_AROUND]]


def people_of(thing: Thing) -> list[tuple[str, int]]:
    """Return who wrote most of the articles, without the person whose page it is."""
    rows = Article.objects.filter(pk__in=thing.articles).exclude(author="")
    names: Counter[str] = Counter()
    for byline in rows.values_list("author", flat=True):
        names.update(name[:200] for name in names_of(byline))
    own_key = name_key(thing.name) if thing.kind == "person" else ""
    return [row for row in names.most_common(MAX_AROUND + 1) if name_key(row[0]) != own_key][:MAX_AROUND]


def named_by(thing: Thing) -> list[NamedThing]:
    """Return the people and organisations that most of the articles name, without the thing itself."""
    addresses = Article.objects.filter(pk__in=thing.articles).newest_first().values_list("url", flat=True)
    own_key = name_key(thing.name)
    return [row for row in named_in(addresses) if name_key(row.name) != own_key]


def words_of(thing: Thing) -> list[str]:
    """Return the keywords of most of the articles, without the thing's own name."""
    rows = Enrichment.objects.filter(article__in=thing.articles).values_list("terms", flat=True)
    words = Counter(term for terms in rows for term in terms)
    own_name = thing.name.casefold()
    common = [word for word, count in words.most_common(MAX_AROUND + 1) if word != own_name and count > 1]
    return common[:MAX_AROUND]


def mention_count(thing: Thing) -> int:
    """Return how many articles of others name a person."""
    try:
        rows = Article.objects.search(f'"{thing.name}"')
    except SearchError:
        return 0
    own_articles = Q(pk__in=thing.articles) | Q(author__icontains=thing.name)
    return rows.exclude(own_articles).order_by()[:MAX_ARTICLES].count()
