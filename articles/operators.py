"""Operators in searches of articles: has:audio, is:saved, author:name, site:host, topic:name, lang:de,
before:2026-01-31, after:.

An operator stands before or between the words of a search; with a minus before it, it excludes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, date, datetime, time, timedelta
from typing import Any

from django.apps import apps
from django.db.models import Exists, JSONField, Lookup, OuterRef, Q

from articles.queries import query_of_author
from crawler.database.estimates import estimate
from crawler.database.readers import visible
from crawler.reading.language_tags import language_tag
from crawler.text.search import SearchError

_OPERATOR = re.compile(
    r"""(?<!\S)(?P<minus>-?)(?P<name>has|is|author|site|topic|lang|before|after):(?P<value>"[^"]*"|[^\s"]+)""",
    re.IGNORECASE,
)
_MEDIUM = '$[*] ? (@.type starts with "{0}/" || @.medium == "{0}")'
_HAS: dict[str, Q] = {
    "audio": Q(enclosures__path_exists=_MEDIUM.format("audio")),
    "video": Q(enclosures__path_exists=_MEDIUM.format("video")),
    "image": ~Q(image=""),
    "text": Q(text_length__gt=0),
    "comments": Q(details__has_key="comments"),
    "place": Q(details__has_key="latitude"),
}
_IS: dict[str, Callable[[], Q]] = {
    # Those of other people are hidden where articles are read (`crawler.database.readers`).
    "saved": lambda: Q(Exists(apps.get_model("saved", "SavedPage").objects.filter(article=OuterRef("pk")))),
    "edited": lambda: Q(
        Exists(apps.get_model("edits", "ArticleVersion").objects.filter(article=OuterRef("pk"), number__gt=1))
    ),
    "gone": lambda: Q(
        Exists(
            apps.get_model("edits", "ArticleVersion").objects.filter(
                article=OuterRef("pk"), kinds__contains=["gone"]
            )
        )
    ),
    "highlighted": lambda: Q(
        Exists(
            visible(
                apps.get_model("saved", "Highlight").objects.filter(article=OuterRef("pk")),
                "subscriber__user_id",
            )
        )
    ),
}
NOTHING = Q(pk__in=[])
MAX_LISTED = 5_000
"""Articles about a topic that are all listed to search among them."""


@JSONField.register_lookup
class PathExists(Lookup):
    """A lookup that is true where an SQL/JSON path finds anything in a column."""

    lookup_name = "path_exists"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[str | int, ...]]:
        """Compile `column @? path`."""
        column, parameters = self.process_lhs(compiler, connection)
        return f"{column} @? %s::jsonpath", (*parameters, str(self.rhs))


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of a search: its name in small letters, its value, and whether it excludes."""

    name: str
    value: str
    excludes: bool = False

    @property
    def condition(self) -> Q:
        """The condition for articles; one that nothing meets for an unknown value."""
        condition = self._condition()
        return ~condition if self.excludes else condition

    def _condition(self) -> Q:
        if not self.value:
            return NOTHING
        return _CONDITIONS[self.name](self.value)


def split_operators(text: str) -> tuple[str, list[Operator]]:
    """Return the words of a search without its operators, and the operators in their order."""
    operators = [
        Operator(match["name"].lower(), match["value"].strip('"').strip(), bool(match["minus"]))
        for match in _OPERATOR.finditer(text)
    ]
    return _OPERATOR.sub(" ", text).strip(), operators


def _of_site(host: str) -> Q:
    host = host.lower().removeprefix("www.")
    return Q(feed__host__name__iendswith=host) | Q(feed__site_url__icontains=f"//{host}")


def _by_author(name: str) -> Q:
    """Return the condition for authors whose names have this text; its words are looked up in the index."""
    words = " ".join(re.findall(r"\w+", name))
    condition = Q(author__icontains=name)
    if not words:
        return condition
    try:
        return condition & Q(search=query_of_author(words, typing=True))
    except SearchError:
        return condition


def _about(name: str) -> Q:
    """Return the condition for a category or topic, a keyword, or a tag of the article.

    Queries the database.
    """
    name = name.replace("-", " ").replace("_", " ")
    tags = list({name, name.lower(), name.title(), name.capitalize(), name.upper()})
    enriched, articles = apps.get_model("enrichment", "Enrichment"), apps.get_model("articles", "Article")
    about = Q(category__in=tags) | Q(terms__contains=[name.casefold()])
    if estimate(enriched.objects.filter(about).only("pk")) > MAX_LISTED:
        # So many that it is quicker to look each match of the other conditions up.
        return Q(categories__overlap=tags) | Q(Exists(enriched.objects.filter(about, pk=OuterRef("pk"))))
    # Each by its own index: no index serves an "or" over two tables.
    matches = enriched.objects.filter(category__in=tags).values("pk").order_by()
    matches = matches.union(
        enriched.objects.filter(terms__contains=[name.casefold()]).values("pk").order_by()
    )
    matches = matches.union(articles.objects.filter(categories__overlap=tags).values("pk").order_by())
    return Q(pk__in=matches)


def _in_language(code: str) -> Q:
    """Return the condition for a language and its regional forms.

    Articles have normalised tags: with exact comparisons PostgreSQL knows how many to expect.
    """
    tag = language_tag(code)
    return Q(language=tag) | Q(language__startswith=f"{tag}-") if tag else NOTHING


def _before(text: str) -> Q:
    start = _start_of(text)
    return Q(published__lt=start) if start else NOTHING


def _after(text: str) -> Q:
    start = _start_of(text)
    return Q(published__gte=start + timedelta(days=1)) if start else NOTHING


def _start_of(text: str) -> datetime | None:
    """Return the beginning of a day in UTC, None for text that is no day, or one at the end of time."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return datetime.combine(day, time.min, UTC) if 1 < day.year < MAXYEAR else None


_CONDITIONS: dict[str, Callable[[str], Q]] = {
    "has": lambda part: _HAS.get(part.lower(), NOTHING),
    "is": lambda part: _IS.get(part.lower(), lambda: NOTHING)(),
    "author": _by_author,
    "site": _of_site,
    "topic": _about,
    "lang": _in_language,
    "before": _before,
    "after": _after,
}
