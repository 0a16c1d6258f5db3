"""Mentions by week: articles whose texts have a name of a person or an organisation that the graph knows."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models.functions import Left

from articles.models import Article
from articles.things.derived.names import name_node
from articles.things.derived.weeks import CalendarWeek
from articles.things.gazetteer import MAX_CHARACTERS, ORGANISATION, Gazetteer, KnownName, Name
from articles.things.people import name_key, names_of, site_of
from crawler.pipeline.index import Terms
from crawler.pipeline.prefixes import expanded
from crawler.pipeline.terms import Kind, Term, iri, safe

NAME = "urn:freshet:mentions:{week}"
MAX_OF_ARTICLE = 50
MAX_ARTICLES = 200_000
PREDICATE = expanded("schema:mentions")


def mentions_graph(week: CalendarWeek, gazetteer: Gazetteer, known_names: Mapping[Name, KnownName]) -> Terms:
    """Return the statements about the articles published in a week: which names they have.

    The writers of an article are not mentioned by it, nor are organisations that only its own site knows.
    """
    articles = Article.objects.public().filter(published__gte=week.start, published__lt=week.end)
    columns = articles.order_by("pk").annotate(beginning=Left("text", MAX_CHARACTERS))
    rows = columns.values_list("url", "title", "beginning", "author")[:MAX_ARTICLES]
    statements: dict[tuple[Term, Term, Term], None] = {}
    for url, title, text, author in rows.iterator(chunk_size=200):
        if not url.startswith(("http://", "https://")):
            continue
        article = iri(safe(url))
        for name in names_in(f"{title}\n{text}", author, url, gazetteer, known_names):
            node = name_node(name.kind, name.text)
            statements[article, PREDICATE, node] = None
            statements[node, expanded("foaf:name"), Term(Kind.LITERAL, name.text)] = None
    return list(statements)


def names_in(
    text: str, author: str, url: str, gazetteer: Gazetteer, known_names: Mapping[Name, KnownName]
) -> list[Name]:
    """Return the names that a text mentions, those named most first."""
    writers = {name_key(name) for name in names_of(author)}
    site = site_of(url)
    counts = gazetteer.mentions(text)
    return [
        name
        for name, _ in counts.most_common()
        if name_key(name.text) not in writers
        and not (name.kind == ORGANISATION and known_names[name].sites <= {site})
    ][:MAX_OF_ARTICLE]
