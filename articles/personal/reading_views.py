"""The reading list: articles that a subscriber follows, newest first or by interest, with marks."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy
from django.views.decorators.http import require_POST, require_safe

from articles.interest import feedback
from articles.interest.log import Kind, hidden_articles, note
from articles.interest.scoring import ranked
from articles.listing import lean
from articles.models import Article, ArticleQuerySet, Mark, Subscriber
from articles.personal.following import folder_named, folders_of, subscriber_of
from articles.personal.marking import mark_all_read, mark_read, marked_starred, star, unread_by
from articles.personal.selection import RANKED, followed_articles, once_a_story
from crawler.web.filters import search_problem
from crawler.web.pages import safe_next, wants_part

PAGE_ARTICLES = 30
LAST_PAGE = 1000
VIEWS = {
    "unread": pgettext_lazy("articles", "unread"),
    "all": pgettext_lazy("articles", "all"),
    "starred": pgettext_lazy("articles", "starred"),
    "hidden": pgettext_lazy("articles", "hidden"),
}
ORDERS = {"newest": gettext_lazy("newest first"), "interest": gettext_lazy("by interest")}
WORDS = ("read", "unread", "star", "unstar")


@require_safe
def reading_list(request: HttpRequest) -> HttpResponse:
    """Show followed articles by folder, words and mark, with only the first article of each story."""
    subscriber = subscriber_of(request.user)
    query = ReadingQuery(request)
    articles = query.articles(subscriber)
    number = _page_number(request)
    keys, exploring, has_next = _page(subscriber, articles, query.order, number)
    articles_by_key = lean(Article.objects.select_related("enrichment")).in_bulk(keys)
    page_articles = [articles_by_key[key] for key in keys if key in articles_by_key]
    if request.method == "GET" and "prefetch" not in request.headers.get("Sec-Purpose", ""):
        note(subscriber, keys, Kind.SHOWN, datetime.now(UTC))
    marks = {mark.article_id: mark for mark in Mark.objects.filter(subscriber=subscriber, article__in=keys)}
    context = {
        "articles": page_articles,
        "marks": marks,
        "given": feedback.given(subscriber, keys),
        "exploring": exploring,
        "asked": query,
        "views": VIEWS,
        "orders": ORDERS,
        "folders": folders_of(subscriber),
        "page": number,
        "newer": number - 1,
        "older": number + 1 if has_next and number < LAST_PAGE else 0,
        "follows": subscriber.subscriptions.exists() or subscriber.topics.exists(),
        "hidden": hidden_articles(subscriber).count(),
    }
    return render(request, "me/reading_list.html", context)


@require_POST
def mark(request: HttpRequest, pk: int, word: str) -> HttpResponse:
    """Mark one article as read or starred, or remove the mark."""
    if word not in WORDS:
        raise Http404(f"there is no button {word!r}")
    subscriber, now = subscriber_of(request.user), datetime.now(UTC)
    article = get_object_or_404(Article.objects.only("pk", "title", "identity"), pk=pk)
    if word in {"read", "unread"}:
        mark_read(subscriber, [pk], now, read=word == "read")
    else:
        star(subscriber, [pk], now, starred=word == "star")
    going_on = safe_next(request, article.get_absolute_url())
    if not wants_part(request):
        return HttpResponseRedirect(going_on)
    row = Mark.objects.filter(subscriber=subscriber, article=pk).first()
    return render(request, "me/_marks.html", {"article": article, "mark": row, "next": going_on})


@require_POST
def mark_list_read(request: HttpRequest) -> HttpResponse:
    """Mark all articles of the list as read."""
    subscriber = subscriber_of(request.user)
    query = ReadingQuery(request)
    if query.problem:
        messages.error(request, _("Nothing is marked as read. %(problem)s") % {"problem": query.problem})
    else:
        count = mark_all_read(subscriber, query.articles(subscriber), datetime.now(UTC))
        messages.success(
            request,
            ngettext("%(count)d article is marked as read.", "%(count)d articles are marked as read.", count)
            % {"count": count},
        )
    own_page = reverse("me")
    return redirect(f"{own_page}?{query.query}" if query.query else own_page)


class ReadingQuery:
    """The parameters of a request for the list: folder, words, view and order."""

    def __init__(self, request: HttpRequest) -> None:
        parameters = request.POST if request.method == "POST" else request.GET
        self.folder = folder_named(parameters.get("folder", "").replace("\0", ""))
        self.q = parameters.get("q", "").replace("\0", "")
        self.problem = search_problem(self.q)
        self.view = parameters.get("view", "") if parameters.get("view", "") in VIEWS else "all"
        self.order = parameters.get("order", "") if parameters.get("order", "") in ORDERS else "newest"

    @property
    def query(self) -> str:
        """The parameters as the query part of a URL."""
        defaults = {"view": "all", "order": "newest"}
        parameters = {"folder": self.folder, "q": self.q, "view": self.view, "order": self.order}
        return urlencode(
            {name: value for name, value in parameters.items() if value and value != defaults.get(name)}
        )

    def articles(self, subscriber: Subscriber) -> ArticleQuerySet:
        """Return the articles of the list, newest first."""
        words = "" if self.problem else self.q
        if self.view == "starred":  # whether or not their feed is still followed
            stars = Article.objects.filter(marked_starred(subscriber)).newest_first()
            return stars.search(words)
        if self.view == "hidden":
            return Article.objects.filter(pk__in=hidden_articles(subscriber)).newest_first().search(words)
        unhidden = followed_articles(subscriber, self.folder).search(words)
        unhidden = unhidden.exclude(pk__in=hidden_articles(subscriber))
        if self.view == "unread":
            unhidden = unhidden.filter(unread_by(subscriber))
        return once_a_story(unhidden, subscriber)


def _page(
    subscriber: Subscriber, articles: ArticleQuerySet, order: str, number: int
) -> tuple[list[int], frozenset[int], bool]:
    """Return the primary keys of one page, the keys placed for exploration, and whether more pages follow."""
    first = (number - 1) * PAGE_ARTICLES
    if order == "newest":
        keys = list(articles.values_list("pk", flat=True)[first : first + PAGE_ARTICLES + 1])
        return keys[:PAGE_ARTICLES], frozenset(), len(keys) > PAGE_ARTICLES
    placed = ranked(subscriber, articles[:RANKED])
    page_entries = placed[first : first + PAGE_ARTICLES]
    exploring = frozenset(entry.article_id for entry in page_entries if entry.exploring)
    return [entry.article_id for entry in page_entries], exploring, len(placed) > first + PAGE_ARTICLES


def _page_number(request: HttpRequest) -> int:
    text = request.GET.get("page", "1")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 6 else 1
    return min(max(number, 1), LAST_PAGE)
