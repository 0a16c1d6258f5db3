"""People as things: one of a name on a site, and the reasons why those of several sites are one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from urllib.parse import quote

from django.db.models import Count

from articles.models import Article
from articles.things.derived.links import site_node
from articles.things.evidence import stated_addresses
from articles.things.gazetteer import PERSON, Name
from articles.things.people import merged, name_key, names_of, site_of
from crawler.pipeline.index import Terms
from crawler.pipeline.prefixes import expanded, number
from crawler.pipeline.terms import Kind, Term, iri, safe

NAME = "urn:freshet:people"
MAX_PEOPLE = 20_000
"""Names in the graph: those that wrote most."""
MAX_SITES = 100
"""Sites of one name that are compared with each other."""


def people_graph() -> Terms:
    """Return the statements about people: name, site, number of articles, addresses, and who is the same."""
    articles: defaultdict[str, Counter[str]] = defaultdict(Counter)
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for byline, host, count in _bylines():
        for name in names_of(byline):
            if key := name_key(name):
                articles[key][host] += count
                spellings[key][name] += count
    chosen = sorted(articles, key=lambda key: (-articles[key].total(), key))[:MAX_PEOPLE]
    addresses = stated_addresses(set(chosen))
    statements: Terms = []
    for key in chosen:
        sites = [site for site, _ in articles[key].most_common(MAX_SITES)]
        name = spellings[key].most_common(1)[0][0]
        own_addresses = {site: addresses[key, site] for site in sites if (key, site) in addresses}
        for site in sites:
            node = person_node(key, site)
            statements += [
                (node, expanded("rdf:type"), expanded("foaf:Person")),
                (node, expanded("foaf:name"), Term(Kind.LITERAL, name[:1000])),
                (node, expanded("freshet:site"), site_node(site)),
                (node, expanded("freshet:articles"), number(articles[key][site])),
                *(
                    (node, expanded("foaf:page"), iri(safe(address)))
                    for address in _pages(own_addresses.get(site, ()))
                ),
            ]
        for person in merged(name, sites, own_addresses):
            for reason in person.evidence:
                statements += _same(key, reason.sites, reason.address)
    return statements


def writers(min_articles: int) -> list[Name]:
    """Return the names of those who wrote at least so many articles, as most of these spell them."""
    counts = Counter[str]()
    for byline, _, count in _bylines():
        counts.update(dict.fromkeys(names_of(byline), count))
    return [Name(PERSON, name) for name, count in counts.items() if count >= min_articles]


def person_node(key: str, site: str) -> Term:
    """Return the term of the person of a name (`name_key`) on a site."""
    return iri(f"urn:freshet:person:{quote(site)}:{quote(key)}"[:2000])


def _same(key: str, sites: tuple[str, str], address: str) -> Terms:
    """Return the statements that two sites' people of a name are one, and why."""
    first, second = (person_node(key, site) for site in sites)
    reason = iri(f"urn:freshet:same:{quote(sites[0])}:{quote(sites[1])}:{quote(key)}"[:2000])
    return [
        (first, expanded("owl:sameAs"), second),
        (reason, expanded("rdf:type"), expanded("freshet:SamePerson")),
        (reason, expanded("freshet:person"), first),
        (reason, expanded("freshet:person"), second),
        (reason, expanded("freshet:because"), Term(Kind.LITERAL, address[:1000])),
    ]


def _pages(addresses: Collection[str]) -> list[str]:
    return sorted(address for address in addresses if address.startswith(("http://", "https://")))[:20]


def _bylines() -> list[tuple[str, str, int]]:
    """Return byline, site and number of articles, without articles whose address has no site."""
    rows = Article.objects.public().exclude(author="").order_by()
    counted = rows.values_list("author", "page__host__name", "feed__host__name").annotate(number=Count("pk"))
    return [
        (byline, site, count)
        for byline, host, feed_host, count in counted.iterator(chunk_size=2000)
        if (site := site_of(f"http://{host or feed_host}/"))
    ]
