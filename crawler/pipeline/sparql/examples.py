"""Example queries of the query page."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

PREFIXES = """PREFIX dct: <http://purl.org/dc/terms/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX schema: <http://schema.org/>
PREFIX sioc: <http://rdfs.org/sioc/ns#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""

EXAMPLES = {
    "authors": (
        gettext_lazy("Who writes most, and on how many sites"),
        PREFIXES
        + """SELECT ?name (COUNT(DISTINCT ?article) AS ?articles) (COUNT(DISTINCT ?feed) AS ?feeds) WHERE {
  GRAPH ?feed { ?article dct:creator/foaf:name ?name }
} GROUP BY ?name ORDER BY DESC(?articles) LIMIT 20""",
    ),
    "author": (
        gettext_lazy("All articles of one author, here of the one who writes most"),
        PREFIXES
        + """SELECT DISTINCT ?name ?article ?title WHERE {
  { SELECT ?name WHERE { ?any dct:creator/foaf:name ?name }
    GROUP BY ?name ORDER BY DESC(COUNT(DISTINCT ?any)) LIMIT 1 }
  GRAPH ?feed { ?article dct:creator/foaf:name ?name ; dct:title ?title }
} ORDER BY ?article LIMIT 50""",
    ),
    "backlinks": (
        gettext_lazy("Which pages link to one address, here to the one that most pages link to"),
        PREFIXES
        + """SELECT ?address ?page ?title WHERE {
  { SELECT ?address WHERE { ?any sioc:links_to ?address }
    GROUP BY ?address ORDER BY DESC(COUNT(?any)) LIMIT 1 }
  GRAPH ?page { ?page sioc:links_to ?address . OPTIONAL { ?page dct:title ?title } }
} ORDER BY ?page LIMIT 50""",
    ),
    "linked": (
        gettext_lazy("Which addresses are linked to from most sites"),
        PREFIXES
        + """SELECT ?address (COUNT(DISTINCT ?site) AS ?sites) WHERE {
  GRAPH ?page { ?page sioc:links_to ?address }
  BIND(REPLACE(STR(?page), "^(https?://[^/]+).*", "$1") AS ?site)
  FILTER(!STRSTARTS(STR(?address), ?site))
} GROUP BY ?address ORDER BY DESC(?sites) LIMIT 20""",
    ),
    "podcasts": (
        gettext_lazy("Feeds with recordings, and how many"),
        PREFIXES
        + """SELECT ?feed ?title (COUNT(DISTINCT ?file) AS ?files) WHERE {
  GRAPH ?feed {
    ?feed sioc:container_of ?item ; dct:title ?title .
    ?item sioc:attachment ?file .
  }
} GROUP BY ?feed ?title ORDER BY DESC(?files) LIMIT 20""",
    ),
    "week": (
        gettext_lazy("What was fetched within the week"),
        PREFIXES
        + """SELECT ?document ?when ?title WHERE {
  GRAPH <urn:crawl:meta> { ?document prov:generatedAtTime ?when }
  FILTER(?when > NOW() - "P7D"^^xsd:dayTimeDuration)
  OPTIONAL { GRAPH ?document { ?document dct:title ?title } }
} ORDER BY DESC(?when) LIMIT 20""",
    ),
}
