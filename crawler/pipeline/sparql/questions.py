"""Twelve questions to the graph with their queries: examples of the query page, and pages of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from crawler.pipeline.prefixes import with_prefixes
from crawler.pipeline.terms import escaped

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

NEWSROOM = gettext_lazy("For a newsroom")
RESEARCH = gettext_lazy("For research")
ARCHIVE = gettext_lazy("For an archive")


@dataclass(frozen=True, slots=True)
class Question:
    """A question in words, readers it is meant for, an explanation of the answer, and its query.

    `phrase` is the question with a place for a `{word}` that people replace, which is a name, or a site
    where `about` is SITE. Questions without such a word have no phrase.
    """

    slug: str
    audience: _StrPromise
    text: _StrPromise
    explanation: _StrPromise
    pattern: str
    phrase: _StrPromise | str = ""
    about: str = ""

    @property
    def title(self) -> str:
        """The question as lists show it, with dots for the word that people replace."""
        return self.about_word("…") if self.phrase else str(self.text)

    def about_word(self, word: str) -> str:
        """Return the question about a word."""
        return str(self.phrase).replace("{word}", word)

    @property
    def query(self) -> str:
        """The query with its PREFIX lines."""
        return with_prefixes(self.pattern)


AUTHOR, SITE = "author", "site"
"""What the word of a question stands for."""

_SITE_OF = 'REPLACE(STR({}), "^(https?://[^/]+).*", "$1")'

_ALL = [
    Question(
        "authors",
        NEWSROOM,
        gettext_lazy("Who writes most?"),
        gettext_lazy("Names as feeds spell them, by the number of their articles."),
        """SELECT ?name (COUNT(DISTINCT ?article) AS ?articles) (COUNT(DISTINCT ?feed) AS ?feeds) WHERE {
  GRAPH ?feed { ?article dct:creator/foaf:name ?name }
} GROUP BY ?name ORDER BY DESC(?articles) ?name LIMIT 20""",
    ),
    Question(
        "author",
        NEWSROOM,
        gettext_lazy("What has one author written?"),
        gettext_lazy("Articles of one author, to begin with of the one who writes most."),
        """SELECT DISTINCT ?name ?article ?title WHERE {
  { SELECT ?name WHERE { ?any dct:creator/foaf:name ?name }
    GROUP BY ?name ORDER BY DESC(COUNT(DISTINCT ?any)) ?name LIMIT 1 }
  GRAPH ?feed { ?article dct:creator/foaf:name ?name ; dct:title ?title }
} ORDER BY ?article LIMIT 50""",
        gettext_lazy("What has {word} written?"),
        AUTHOR,
    ),
    Question(
        "linked",
        NEWSROOM,
        gettext_lazy("What do most sites link to?"),
        gettext_lazy("Addresses by the number of other sites whose pages link to them."),
        f"""SELECT ?address (COUNT(DISTINCT ?site) AS ?sites) WHERE {{
  GRAPH ?page {{ ?page sioc:links_to ?address }}
  BIND({_SITE_OF.format("?page")} AS ?site)
  FILTER({_SITE_OF.format("?address")} != ?site)
}} GROUP BY ?address ORDER BY DESC(?sites) ?address LIMIT 20""",
    ),
    Question(
        "backlinks",
        NEWSROOM,
        gettext_lazy("Who links to one address?"),
        gettext_lazy("Links to a site or to one address, to begin with to what is linked to most."),
        """SELECT ?address ?page ?title WHERE {
  { SELECT ?address WHERE { ?any sioc:links_to ?address }
    GROUP BY ?address ORDER BY DESC(COUNT(?any)) ?address LIMIT 1 }
  GRAPH ?page { ?page sioc:links_to ?address . OPTIONAL { ?page dct:title ?title } }
} ORDER BY ?page LIMIT 50""",
        gettext_lazy("Which sites link to {word}?"),
        SITE,
    ),
    Question(
        "sites",
        RESEARCH,
        gettext_lazy("Which sites link to each other most?"),
        gettext_lazy("Pairs of sites by the number of links from pages of the one to the other."),
        f"""SELECT ?from ?to (COUNT(*) AS ?links) WHERE {{
  GRAPH ?page {{ ?page sioc:links_to ?address }}
  BIND({_SITE_OF.format("?page")} AS ?from)
  BIND({_SITE_OF.format("?address")} AS ?to)
  FILTER(?from != ?to)
}} GROUP BY ?from ?to ORDER BY DESC(?links) ?from ?to LIMIT 50""",
    ),
    Question(
        "colleagues",
        RESEARCH,
        gettext_lazy("Who writes for more than one feed?"),
        gettext_lazy("Names that are in two feeds or more. Two people may have one name."),
        """SELECT ?name (COUNT(DISTINCT ?feed) AS ?feeds) (SAMPLE(?feed) AS ?example) WHERE {
  GRAPH ?feed { ?feed sioc:container_of ?article . ?article dct:creator/foaf:name ?name }
} GROUP BY ?name HAVING(COUNT(DISTINCT ?feed) > 1) ORDER BY DESC(?feeds) ?name LIMIT 50""",
    ),
    Question(
        "languages",
        RESEARCH,
        gettext_lazy("In which languages are pages and feeds?"),
        gettext_lazy("As they say themselves; regions are left out."),
        """SELECT ?language (COUNT(DISTINCT ?document) AS ?documents) WHERE {
  GRAPH ?document { ?document dct:language ?tag }
  BIND(LCASE(REPLACE(STR(?tag), "[-_].*$", "")) AS ?language)
} GROUP BY ?language ORDER BY DESC(?documents) ?language LIMIT 50""",
    ),
    Question(
        "hours",
        RESEARCH,
        gettext_lazy("At which hours do feeds publish?"),
        gettext_lazy("Articles of all feeds by the hour of their date, in Greenwich time."),
        """SELECT ?hour (COUNT(DISTINCT ?article) AS ?articles) WHERE {
  ?feed sioc:container_of ?article . ?article dct:created ?when
  BIND(HOURS(xsd:dateTime(?when)) AS ?hour)
  FILTER(BOUND(?hour))
} GROUP BY ?hour ORDER BY ?hour""",
    ),
    Question(
        "week",
        ARCHIVE,
        gettext_lazy("What was read this week?"),
        gettext_lazy("Documents of the last seven days, the newest first."),
        """SELECT ?document ?when ?title WHERE {
  GRAPH <urn:crawl:meta> { ?document prov:generatedAtTime ?when }
  FILTER(?when > NOW() - "P7D"^^xsd:dayTimeDuration)
  OPTIONAL { GRAPH ?document { ?document dct:title ?title } }
} ORDER BY DESC(?when) ?document LIMIT 20""",
    ),
    Question(
        "licences",
        ARCHIVE,
        gettext_lazy("Under which licences are pages published?"),
        gettext_lazy("Licences that pages link to, with the number of pages and one of them."),
        """SELECT ?licence (COUNT(DISTINCT ?page) AS ?pages) (SAMPLE(?page) AS ?example) WHERE {
  GRAPH ?page { ?page xhv:license ?licence }
} GROUP BY ?licence ORDER BY DESC(?pages) ?licence LIMIT 20""",
    ),
    Question(
        "podcasts",
        ARCHIVE,
        gettext_lazy("Which feeds have recordings?"),
        gettext_lazy("Feeds by the number of their files, with the bytes that they say these have."),
        """SELECT ?feed ?title (COUNT(?file) AS ?files) (SUM(?size) AS ?bytes) WHERE {
  { SELECT ?feed ?title ?file (MAX(COALESCE(xsd:integer(?said), 0)) AS ?size) WHERE {
    GRAPH ?feed {
      ?feed sioc:container_of ?item ; dct:title ?title .
      ?item sioc:attachment ?file .
      OPTIONAL { ?file schema:contentSize ?said }
    }
  } GROUP BY ?feed ?title ?file }
} GROUP BY ?feed ?title ORDER BY DESC(?files) ?feed LIMIT 20""",
    ),
    Question(
        "unread",
        ARCHIVE,
        gettext_lazy("What is linked to most and has not been read?"),
        gettext_lazy("Addresses without a document here, by the number of pages that link to them."),
        """SELECT ?address (COUNT(DISTINCT ?page) AS ?pages) WHERE {
  GRAPH ?page { ?page sioc:links_to ?address }
  FILTER NOT EXISTS { GRAPH <urn:crawl:meta> { ?address prov:generatedAtTime ?when } }
} GROUP BY ?address ORDER BY DESC(?pages) ?address LIMIT 50""",
    ),
]

QUESTIONS = {question.slug: question for question in _ALL}
"""The questions by their part of an address, in the order of the page."""

_HOST_OF = 'REPLACE(STR({}), "^https?://(www[.])?([^/:?#]+).*$", "$2")'
_BARE = 'REPLACE(REPLACE(STR({}), "^https?://(www[.])?", ""), "/$", "")'
_ADDRESS = re.compile(r"(?:https?://)?(?:www\.)?(?P<rest>[^\s/@]+(?:\.[^\s/@]+)+(?:/\S*)?)", re.IGNORECASE)


def written_by(name: str) -> str:
    """Return the query for what an author has written, whatever the case of the name."""
    return with_prefixes(
        f"""SELECT DISTINCT ?article ?title WHERE {{
  GRAPH ?feed {{ ?article dct:creator/foaf:name ?name ; dct:title ?title }}
  FILTER(LCASE(STR(?name)) = LCASE("{escaped(name)}"))
}} ORDER BY ?article LIMIT 50"""
    )


def bare_address(word: str) -> str:
    """Return a host or an address without its scheme, "www." and last slash. Returns "" for a name."""
    match = _ADDRESS.fullmatch(word.strip())
    if match is None:
        return ""
    host, slash, path = match["rest"].partition("/")
    return f"{host.lower()}{slash}{path}".removesuffix("/")


def linking_to(places: Sequence[str]) -> str:
    """Return the query for the sites that link to these places: hosts, and addresses without their scheme."""
    hosts = ", ".join(f'"{escaped(place)}"' for place in places if "/" not in place)
    addresses = ", ".join(f'"{escaped(place)}"' for place in places if "/" in place)
    tests = [f"?target IN ({hosts})"] if hosts else []
    tests += [f"{_BARE.format('?address')} IN ({addresses})"] if addresses else []
    return with_prefixes(
        f"""SELECT ?site (COUNT(DISTINCT ?page) AS ?pages) (SAMPLE(?page) AS ?example) WHERE {{
  GRAPH ?page {{ ?page sioc:links_to ?address }}
  BIND({_HOST_OF.format("?page")} AS ?site)
  BIND({_HOST_OF.format("?address")} AS ?target)
  FILTER(?site != ?target && ({" || ".join(tests) or "false"}))
}} GROUP BY ?site ORDER BY DESC(?pages) ?site LIMIT 50"""
    )


def recognised(words: str) -> tuple[Question, str] | None:
    """Return the question that these words ask, and its word. Returns None for other words."""
    sentence = " ".join(words.split()).casefold().rstrip("?").strip()
    for question in QUESTIONS.values():
        if sentence == str(question.text).casefold().rstrip("?"):
            return question, ""
        before, place, after = str(question.phrase).casefold().rstrip("?").partition("{word}")
        after = after.rstrip()
        if not place or not sentence.startswith(before) or not sentence.endswith(after):
            continue
        start, end = len(before), len(sentence) - len(after)
        if start < end:
            return question, " ".join(words.split()).rstrip("?").strip()[start:end].strip("“”\"' ")
    return None
