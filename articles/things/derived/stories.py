"""Stories as things: those that began in a week, with their articles."""

from __future__ import annotations

from django.db.models import Count, Prefetch

from articles.enrichment.models import Enrichment, Story
from articles.enrichment.topics import BY_NAME
from articles.things.derived.weeks import CalendarWeek
from crawler.pipeline.index import Terms
from crawler.pipeline.prefixes import expanded, moment, number
from crawler.pipeline.terms import Kind, Term, iri, plain, safe

NAME = "urn:freshet:stories:{week}"
MAX_STORIES = 20_000
MAX_MEMBERS = 100


def stories_graph(week: CalendarWeek) -> Terms:
    """Return the statements about the stories that began in a week: title, time, topic, articles, feeds."""
    began = Story.objects.filter(created__gte=week.start, created__lt=week.end)
    columns = ("story", "category", "article__title", "article__url", "article__feed")
    public = Enrichment.objects.filter(article__owner__isnull=True)
    members = public.select_related("article").only(*columns).order_by("article_id")
    rows = (
        began.annotate(size=Count("members"))
        .filter(size__gt=1)
        .order_by("-size", "id")[:MAX_STORIES]
        .prefetch_related(Prefetch("members", members))
    )
    return [statement for story in rows.iterator(chunk_size=200) for statement in _story(story)]


def _story(story: Story) -> Terms:
    node = iri(f"urn:freshet:story:{story.pk}")
    members = list(story.members.all())
    if len(members) < 2:  # it was taken apart meanwhile
        return []
    title = plain(members[0].article.title)
    statements: Terms = [
        (node, expanded("rdf:type"), expanded("freshet:Story")),
        (node, expanded("dct:created"), moment(story.created)),
        (node, expanded("freshet:feeds"), number(len({row.article.feed_id for row in members}))),
        (node, expanded("freshet:articles"), number(len(members))),
    ]
    if title:
        statements.append((node, expanded("dct:title"), Term(Kind.LITERAL, title[:1000])))
    topics = sorted({BY_NAME[row.category].address for row in members if row.category in BY_NAME})
    statements += [(node, expanded("schema:about"), iri(address)) for address in topics]
    addresses = dict.fromkeys(safe(row.article.url) for row in members if _is_web(row.article.url))
    return statements + [
        (node, expanded("schema:hasPart"), iri(address)) for address in list(addresses)[:MAX_MEMBERS]
    ]


def _is_web(address: str) -> bool:
    return address.startswith(("http://", "https://"))
