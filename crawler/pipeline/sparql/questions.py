"""Twelve questions to the graph with their queries: examples of the query page, and pages of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from crawler.pipeline.prefixes import with_prefixes

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

NEWSROOM = gettext_lazy("For a newsroom")
RESEARCH = gettext_lazy("For research")
ARCHIVE = gettext_lazy("For an archive")


@dataclass(frozen=True, slots=True)
class Question:
    """A question in words, readers it is meant for, an explanation of the answer, and its query."""

    slug: str
    audience: _StrPromise
    text: _StrPromise
    explanation: _StrPromise
    pattern: str

    @property
    def query(self) -> str:
        """The query with its PREFIX lines."""
        return with_prefixes(self.pattern)


_SITE_OF = 'REPLACE(STR({}), "^(https?://[^/]+).*", "$1")'

_ALL = [
    Question(
        "authors",
        NEWSROOM,
        gettext_lazy("Who writes most, and in how many feeds?"),
        gettext_lazy("Names as feeds spell them, by the number of their articles."),
        """SELECT ?name (COUNT(DISTINCT ?article) AS ?articles) (COUNT(DISTINCT ?feed) AS ?feeds) WHERE {
  GRAPH ?feed { ?article dct:creator/foaf:name ?name }
} GROUP BY ?name ORDER BY DESC(?articles) ?name LIMIT 20""",
    ),
    Question(
        "author",
        NEWSROOM,
        gettext_lazy("What has one author written?"),
        gettext_lazy("Articles of the one who writes most. Put another name into the query."),
        """SELECT DISTINCT ?name ?article ?title WHERE {
  { SELECT ?name WHERE { ?any dct:creator/foaf:name ?name }
    GROUP BY ?name ORDER BY DESC(COUNT(DISTINCT ?any)) ?name LIMIT 1 }
  GRAPH ?feed { ?article dct:creator/foaf:name ?name ; dct:title ?title }
} ORDER BY ?article LIMIT 50""",
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
        gettext_lazy("Pages that link to what most pages link to. Put another address into the query."),
        """SELECT ?address ?page ?title WHERE {
  { SELECT ?address WHERE { ?any sioc:links_to ?address }
    GROUP BY ?address ORDER BY DESC(COUNT(?any)) ?address LIMIT 1 }
  GRAPH ?page { ?page sioc:links_to ?address . OPTIONAL { ?page dct:title ?title } }
} ORDER BY ?page LIMIT 50""",
    ),
    Question(
        "sites",
        RESEARCH,
        gettext_lazy("Which sites link to which?"),
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
        gettext_lazy("What was read within the week?"),
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
        gettext_lazy("Which feeds have recordings, and how large are they?"),
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
