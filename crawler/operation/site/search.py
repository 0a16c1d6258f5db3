"""The search over everything: articles, feeds, people, sites and topics on one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from articles.enrichment.models import Enrichment
from articles.exporting.answers import export_page
from articles.exporting.querying import article_rows, keys_in
from articles.listing import (
    RANKED,
    by_rank,
    in_order,
    languages,
    lean,
    newest_keys,
    once_a_page,
    snippets,
)
from articles.meaning.searching import hybrid
from articles.models import Article, ArticleQuerySet, PersonalFeed, Subscriber
from articles.operators import split_operators
from articles.personal.following import subscriber_of
from articles.personal.marking import marked_starred, unread_by
from articles.personal.selection import create_personal_feed
from articles.search import author_query
from articles.things.pages import person_address
from articles.things.people import name_key, names_of
from crawler.text.search import SearchError
from crawler.text.words import Words
from crawler.web import undo
from crawler.web.filters import search_problem
from crawler.web.pages import wants_part
from crawler.web.pagination import page_of
from crawler.web.refusals import refusal
from crawler.web.templatetags.freshet import amount, language_name
from feeds.models import Feed
from feeds.pages.filters import FeedFilter
from recrawl.models import Site

KINDS = {
    "all": gettext_lazy("Everything"),
    "articles": gettext_lazy("Articles"),
    "feeds": gettext_lazy("Feeds"),
    "people": gettext_lazy("People"),
    "sites": gettext_lazy("Sites"),
}
WHENS = {
    "day": (gettext_lazy("Today"), 1),
    "week": (gettext_lazy("This week"), 7),
    "month": (gettext_lazy("This month"), 30),
    "year": (gettext_lazy("This year"), 365),
}
PAGE_HITS = 20
MAX_ASIDE = 6
MAX_COUNTED = RANKED
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
    def from_parameters(cls, parameters: QueryDict) -> SearchTerms:
        """Return the search of an address; unknown values count as not given."""
        kind, when, order = parameters.get("in", ""), parameters.get("when", ""), parameters.get("order", "")
        return cls(
            words=" ".join(parameters.get("q", "").replace("\0", "").split()),
            kind=kind if kind in KINDS else "all",
            when=when if when in WHENS else "",
            language=parameters.get("lang", "")[:20],
            order=order if order in {"new", "best"} else "",
            unread=bool(parameters.get("unread")),
            starred=bool(parameters.get("starred")),
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
    """Show the results of a search; for htmx the results alone."""
    terms, subscriber = SearchTerms.from_parameters(request.GET), subscriber_of(request.user)
    is_part = wants_part(request)
    problem = search_problem(terms.words)
    context: dict[str, Any] = {"terms": terms, "problem": problem, "languages": _languages()}
    if terms.words and not problem:
        try:
            context |= _results(request, terms, subscriber, typing=is_part)
        except SearchError as error:
            context["problem"] = str(error)
        if not is_part:
            _remember(request, terms.words)
    context["chips"] = _chips(terms, context.get("numbers", {}))
    context["whens"] = [
        (words, terms.address(when="" if terms.when == name else name), terms.when == name)
        for name, (words, _) in WHENS.items()
    ]
    context |= {
        "recent": request.session.get(_RECENT, []),
        "saved": subscriber.personal_feeds.exclude(query="").only("pk", "name", "query"),
    }
    response = render(request, "search/_hits.html" if is_part else "search/search.html", context)
    if is_part:
        response.headers["HX-Push-Url"] = terms.address()
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_safe
def export(request: HttpRequest) -> HttpResponseBase:
    """Return all articles that a search finds as a file, the newest first, in the format that `as` names."""
    terms, subscriber = SearchTerms.from_parameters(request.GET), subscriber_of(request.user)
    problem = search_problem(terms.words) or ("" if terms.words else _("There is nothing to search for."))
    if problem:
        return refusal(request, problem, 400)
    try:
        matches = _articles(terms, subscriber, datetime.now(UTC), typing=False).newest_first()
    except SearchError as error:
        return refusal(request, str(error), 400)
    return export_page(request, lambda form: article_rows(keys_in(matches), subscriber, form), terms.words)


@require_POST
def keep(request: HttpRequest) -> HttpResponse:
    """Keep a search: it stands in the sidebar and has a feed of its own."""
    terms, subscriber = SearchTerms.from_parameters(request.POST), subscriber_of(request.user)
    words = f"{terms.words} lang:{terms.language}" if terms.language else terms.words
    problem = search_problem(words)
    if not words or problem:
        messages.error(request, problem or "There is no search to keep.")
        return HttpResponseRedirect(terms.address())
    if subscriber.personal_feeds.filter(Q(query=words) | Q(name=words[:200])).exists():
        messages.info(request, _("This search is kept already."))
        return HttpResponseRedirect(terms.address())
    personal_feed = create_personal_feed(subscriber, name=words[:200], query=words)
    undo.offer(
        request,
        _("“%(name)s” is kept beside your folders.") % {"name": personal_feed.name},
        "search.keep",
        personal_feed.pk,
    )
    return HttpResponseRedirect(terms.address())


@require_POST
def forget(request: HttpRequest) -> HttpResponse:
    """Forget the recent searches."""
    request.session.pop(_RECENT, None)
    return HttpResponseRedirect(reverse("search"))


@undo.register("search.keep")
def _undo_keeping(user: Any, pk: Any) -> str:
    PersonalFeed.objects.filter(pk=pk, subscriber__user=user).delete()
    return _("The search is no longer kept.")


def _results(
    request: HttpRequest, terms: SearchTerms, subscriber: Subscriber, *, typing: bool
) -> dict[str, Any]:
    now = datetime.now(UTC)
    rows = _articles(terms, subscriber, now, typing=typing)
    keys = once_a_page(newest_keys(rows, MAX_COUNTED + 1))
    counts = {"articles": len(keys)}
    plain_words = split_operators(terms.words)[0]
    results: dict[str, Any] = {}
    if terms.kind in {"all", "articles"}:
        is_newest_first = terms.order == "new" or not plain_words
        shown_keys = keys if is_newest_first else keys[:RANKED]
        matches = Article.objects.filter(id__in=shown_keys)
        is_hybrid = bool(settings.EMBEDDINGS_URL) and not is_newest_first
        by_meaning: dict[int, bool] = {}
        articles: list[Article]
        if is_hybrid:
            candidates = _articles(terms, subscriber, now, typing=typing, by_words=False)
            hits = hybrid(terms.words, shown_keys, rows, candidates)
            hit_keys, by_meaning = once_a_page(hits.keys), dict.fromkeys(hits.by_meaning, True)
            page = page_of(request, hit_keys, size=PAGE_HITS, known_count=len(hit_keys))
            articles = in_order(list(page.object_list))
            counts["articles"] = max(counts["articles"], len(hit_keys))
        else:
            ordered = matches.newest_first() if is_newest_first else by_rank(matches, terms.words)
            page = page_of(request, lean(ordered), size=PAGE_HITS, known_count=len(shown_keys))
            articles = list(page.object_list)
        results |= {
            "page": page,
            "articles": articles,
            "by_meaning": by_meaning,
            "snippets": snippets(articles, plain_words) if plain_words else {},
            "is_newest_first": is_newest_first,
        }
    limit = MAX_ASIDE if terms.kind == "all" else 50
    feeds, sites = _feeds(plain_words), _sites(plain_words)
    results["feeds"] = list(feeds[:limit]) if terms.kind in {"all", "feeds"} else []
    results["sites"] = list(sites[:limit]) if terms.kind in {"all", "sites"} else []
    people = _people(keys[:RANKED], plain_words)
    results["people"] = people[:limit] if terms.kind in {"all", "people"} else []
    counts |= {"feeds": feeds.count(), "sites": sites.count(), "people": len(people)}
    results["topic"] = _topic(plain_words) if terms.kind == "all" else None
    return results | {"numbers": counts, "is_empty": not any(counts.values())}


def _articles(
    terms: SearchTerms, subscriber: Subscriber, now: datetime, *, typing: bool, by_words: bool = True
) -> ArticleQuerySet:
    """Return the articles of a search; without `by_words` those that its operators and filters leave."""
    rows = Article.objects.search(terms.words, terms.language, typing=typing, by_words=by_words)
    if terms.when:
        rows = rows.filter(published__gte=now - timedelta(days=WHENS[terms.when][1]))
    if terms.language:
        rows = rows.filter(language__startswith=terms.language)
    if terms.unread:
        rows = rows.filter(unread_by(subscriber))
    return rows.filter(marked_starred(subscriber)) if terms.starred else rows


def _feeds(words: str) -> QuerySet[Feed]:
    rows: QuerySet[Feed] = FeedFilter({"q": words}, Feed.objects.order_by("title")).qs
    return rows.only("id", "title", "url", "site_url") if words else rows.none()


def _sites(words: str) -> QuerySet[Site]:
    rows = Site.objects.order_by("url")
    for word in words.split():
        rows = rows.filter(url__icontains=word)
    return rows if words else rows.none()


def _people(keys: Sequence[int], words: str) -> list[dict[str, Any]]:
    """Return the people with these words in their names among the authors of these articles."""
    if not words:
        return []
    by_them = Article.objects.filter(id__in=keys, search=author_query(words))
    numbers: Counter[str] = Counter()
    names: dict[str, str] = {}
    wanted_keys = {name_key(word) for word in words.split()}
    for byline in by_them.exclude(author="").values_list("author", flat=True)[:MAX_COUNTED]:
        by_key = {name_key(name): name for name in names_of(byline[:1000])}
        # Where the words are there in another form alone, all names of the byline are.
        found_keys = [key for key in by_key if any(word in key for word in wanted_keys)] or list(by_key)
        numbers.update(found_keys)
        names = by_key | names
    return [
        {"author": names[key], "number": number, "address": person_address(names[key])}
        for key, number in numbers.most_common(50)
    ]


def _topic(words: str) -> dict[str, Any] | None:
    """Return the keyword equal to these words and its number of articles, None for fewer than two."""
    keyword = " ".join(words.casefold().split())[:64]
    if not keyword:
        return None
    rows = Enrichment.objects.filter(terms__contains=[keyword])
    number = rows.order_by()[: MAX_COUNTED + 1].count()
    return {"name": keyword, "number": number} if number > 1 else None


def _chips(terms: SearchTerms, counts: dict[str, int]) -> list[tuple[Words, str, bool, str]]:
    """Return the label, address, selected flag and count of each kind of result."""

    def number(kind: str) -> str:
        count = counts.get(kind)
        if not count:
            return ""
        return _("over %(count)s") % {"count": amount(MAX_COUNTED)} if count > MAX_COUNTED else amount(count)

    return [
        (words, terms.address(kind=kind), terms.kind == kind, number(kind)) for kind, words in KINDS.items()
    ]


def _languages() -> list[tuple[str, str]]:
    codes = dict.fromkeys(code.partition("-")[0] for code in languages())
    return [(code, language_name(code)) for code in codes]


def _remember(request: HttpRequest, words: str) -> None:
    """Keep the newest searches of a session."""
    earlier = [search for search in request.session.get(_RECENT, []) if search != words]
    request.session[_RECENT] = [words, *earlier][:MAX_RECENT]
