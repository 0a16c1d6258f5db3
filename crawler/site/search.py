"""The search over everything: articles, feeds, people, sites and topics on one page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from articles.enrichment.models import Enrichment
from articles.filters import language_name
from articles.listing import by_relevance, languages, lean, snippets
from articles.models import Article, ArticleQuerySet, PersonalFeed, Subscriber
from articles.operators import split_operators
from articles.personal.following import subscriber_of
from articles.personal.marking import marked_read, marked_starred
from articles.personal.selection import create_personal_feed
from articles.search import author_query
from crawler.text.search import SearchError
from crawler.web import undo
from crawler.web.filters import search_problem
from crawler.web.pages import wants_part
from crawler.web.pagination import page_of
from feeds.filters import FeedFilter
from feeds.models import Feed
from recrawl.models import Site

KINDS = {"all": "Everything", "articles": "Articles", "feeds": "Feeds", "people": "People", "sites": "Sites"}
WHENS = {
    "day": ("Today", 1),
    "week": ("This week", 7),
    "month": ("This month", 30),
    "year": ("This year", 365),
}
PAGE_HITS = 20
MAX_ASIDE = 6
MAX_COUNTED = 1000
MAX_RECENT = 8
_RECENT = "searches"


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """A search as its address names it."""

    words: str = ""
    kind: str = "all"
    when: str = ""
    language: str = ""
    order: str = ""
    unread: bool = False
    starred: bool = False

    @classmethod
    def from_parameters(cls, given: QueryDict) -> SearchTerms:
        """Return the search of an address; unknown values count as not given."""
        kind, when, order = given.get("in", ""), given.get("when", ""), given.get("order", "")
        return cls(
            words=" ".join(given.get("q", "").replace("\0", "").split()),
            kind=kind if kind in KINDS else "all",
            when=when if when in WHENS else "",
            language=given.get("lang", "")[:20],
            order=order if order in {"new", "best"} else "",
            unread=bool(given.get("unread")),
            starred=bool(given.get("starred")),
        )

    @property
    def query(self) -> str:
        """The parameters of its address, without those that have their usual value."""
        values = {
            "q": self.words,
            "in": self.kind if self.kind != "all" else "",
            "when": self.when,
            "lang": self.language,
            "order": self.order,
            "unread": "1" if self.unread else "",
            "starred": "1" if self.starred else "",
        }
        return urlencode({name: value for name, value in values.items() if value})

    def address(self, **changes: Any) -> str:
        """Return the address of this search with these changes."""
        return f"{reverse('search')}?{replace(self, **changes).query}"


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show what was found; for htmx the results alone."""
    wanted, subscriber = SearchTerms.from_parameters(request.GET), subscriber_of(request.user)
    is_part = wants_part(request)
    problem = search_problem(wanted.words)
    context: dict[str, Any] = {"wanted": wanted, "problem": problem, "languages": _languages()}
    if wanted.words and not problem:
        try:
            context |= _results(request, wanted, subscriber, typing=is_part)
        except SearchError as error:
            context["problem"] = str(error)
        if not is_part:
            _remember(request, wanted.words)
    context["chips"] = _chips(wanted, context.get("numbers", {}))
    context["whens"] = [
        (words, wanted.address(when="" if wanted.when == name else name), wanted.when == name)
        for name, (words, _) in WHENS.items()
    ]
    context |= {
        "recent": request.session.get(_RECENT, []),
        "saved": subscriber.personal_feeds.exclude(query="").only("pk", "name", "query"),
    }
    response = render(request, "search/_hits.html" if is_part else "search/search.html", context)
    if is_part:
        response.headers["HX-Push-Url"] = wanted.address()
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_POST
def keep(request: HttpRequest) -> HttpResponse:
    """Keep a search: it stands in the sidebar and has a feed of its own."""
    wanted, subscriber = SearchTerms.from_parameters(request.POST), subscriber_of(request.user)
    words = f"{wanted.words} lang:{wanted.language}" if wanted.language else wanted.words
    problem = search_problem(words)
    if not words or problem:
        messages.error(request, problem or "There is no search to keep.")
        return HttpResponseRedirect(wanted.address())
    if subscriber.personal_feeds.filter(Q(query=words) | Q(name=words[:200])).exists():
        messages.info(request, "This search is kept already.")
        return HttpResponseRedirect(wanted.address())
    kept = create_personal_feed(subscriber, name=words[:200], query=words)
    undo.offer(request, f"“{kept.name}” is kept beside your folders.", "search.keep", kept.pk)
    return HttpResponseRedirect(wanted.address())


@require_POST
def forget(request: HttpRequest) -> HttpResponse:
    """Forget the recent searches."""
    request.session.pop(_RECENT, None)
    return HttpResponseRedirect(reverse("search"))


@undo.register("search.keep")
def _undo_keeping(user: Any, pk: Any) -> str:
    PersonalFeed.objects.filter(pk=pk, subscriber__user=user).delete()
    return "The search is no longer kept."


def _results(
    request: HttpRequest, wanted: SearchTerms, subscriber: Subscriber, *, typing: bool
) -> dict[str, Any]:
    now = datetime.now(UTC)
    rows = _articles(wanted, subscriber, now, typing=typing)
    counts = {"articles": rows.order_by()[: MAX_COUNTED + 1].count()}
    found: dict[str, Any] = {}
    if wanted.kind in {"all", "articles"}:
        is_new = wanted.order == "new" or not split_operators(wanted.words)[0]
        ordered = rows.newest_first() if is_new else by_relevance(rows, wanted.words)
        page = page_of(request, lean(ordered), size=PAGE_HITS)
        articles: list[Article] = list(page.object_list)
        plain = split_operators(wanted.words)[0]
        found |= {
            "page": page,
            "articles": articles,
            "snippets": snippets(articles, plain) if plain else {},
            "is_new": is_new,
        }
    limit = MAX_ASIDE if wanted.kind == "all" else 50
    plain = split_operators(wanted.words)[0]
    feeds, sites = _feeds(plain), _sites(plain)
    found["feeds"] = list(feeds[:limit]) if wanted.kind in {"all", "feeds"} else []
    found["sites"] = list(sites[:limit]) if wanted.kind in {"all", "sites"} else []
    people = _people(plain)
    found["people"] = people[:limit] if wanted.kind in {"all", "people"} else []
    counts |= {"feeds": feeds.count(), "sites": sites.count(), "people": len(people)}
    found["topic"] = _topic(plain) if wanted.kind == "all" else None
    return found | {"numbers": counts, "is_empty": not any(counts.values())}


def _articles(wanted: SearchTerms, subscriber: Subscriber, now: datetime, *, typing: bool) -> ArticleQuerySet:
    rows = Article.objects.search(wanted.words, wanted.language, typing=typing)
    if wanted.when:
        rows = rows.filter(published__gte=now - timedelta(days=WHENS[wanted.when][1]))
    if wanted.language:
        rows = rows.filter(language__startswith=wanted.language)
    if wanted.unread:
        rows = rows.filter(~marked_read(subscriber))
    return rows.filter(marked_starred(subscriber)) if wanted.starred else rows


def _feeds(words: str) -> QuerySet[Feed]:
    rows: QuerySet[Feed] = FeedFilter({"q": words}, Feed.objects.order_by("title")).qs
    return rows.only("id", "title", "url", "site_url") if words else rows.none()


def _sites(words: str) -> QuerySet[Site]:
    rows = Site.objects.order_by("url")
    for word in words.split():
        rows = rows.filter(url__icontains=word)
    return rows if words else rows.none()


def _people(words: str) -> list[dict[str, Any]]:
    """Return authors whose names have the words, among the newest articles, with their numbers."""
    if not words:
        return []
    newest = Article.objects.filter(search=author_query(words)).newest_first().values("pk")[:MAX_COUNTED]
    rows = Article.objects.filter(pk__in=newest).exclude(author="").order_by().values("author")
    counted = rows.annotate(number=Count("pk")).order_by("-number", "author")
    return [{"author": row["author"], "number": row["number"]} for row in counted[:50]]


def _topic(words: str) -> dict[str, Any] | None:
    """Return the keyword that the words name, with the number of its articles, None without any."""
    keyword = " ".join(words.casefold().split())[:64]
    if not keyword:
        return None
    rows = Enrichment.objects.filter(terms__contains=[keyword])
    number = rows.order_by()[: MAX_COUNTED + 1].count()
    return {"name": keyword, "number": number} if number > 1 else None


def _chips(wanted: SearchTerms, counts: dict[str, int]) -> list[tuple[str, str, bool, str]]:
    """Return name, address, whether it is chosen, and the number of each kind of result."""

    def number(kind: str) -> str:
        count = counts.get(kind)
        if not count:
            return ""
        return f"over {MAX_COUNTED:,}" if count > MAX_COUNTED else f"{count:,}"

    return [
        (words, wanted.address(kind=kind), wanted.kind == kind, number(kind)) for kind, words in KINDS.items()
    ]


def _languages() -> list[tuple[str, str]]:
    codes = dict.fromkeys(code.partition("-")[0] for code in languages())
    return [(code, language_name(code).partition(" (")[0]) for code in codes]


def _remember(request: HttpRequest, words: str) -> None:
    """Keep the newest searches of a session."""
    earlier = [search for search in request.session.get(_RECENT, []) if search != words]
    request.session[_RECENT] = [words, *earlier][:MAX_RECENT]
