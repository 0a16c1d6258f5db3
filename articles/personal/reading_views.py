"""The reading list: what a subscriber follows, marked as it is read, in either order."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from articles.interest import feedback
from articles.interest.log import Kind, hidden_articles, note
from articles.interest.scoring import ranked
from articles.listing import lean
from articles.models import Article, ArticleQuerySet, Mark, Subscriber
from articles.personal.following import folder_named, folders_of, subscriber_of
from articles.personal.marking import mark_all_read, mark_read, marked_read, marked_starred, star
from articles.personal.selection import RANKED, followed, once_a_story
from crawler.web.pages import safe_next, wants_part

PAGE_ARTICLES = 30
LAST_PAGE = 1000
VIEWS = {"unread": "unread", "all": "all", "starred": "starred", "hidden": "hidden"}
ORDERS = {"newest": "newest first", "interest": "by interest"}
WORDS = ("read", "unread", "star", "unstar")


@require_safe
def reading_list(request: HttpRequest) -> HttpResponse:
    """Articles of what the subscriber follows, by folder, words and mark; of a story the first one."""
    subscriber = subscriber_of(request.user)
    asked = _Asked(request)
    articles = asked.articles(subscriber)
    number = _page_number(request)
    keys, exploring, more = _page(subscriber, articles, asked.order, number)
    known = lean(Article.objects.select_related("enrichment")).in_bulk(keys)
    shown = [known[key] for key in keys if key in known]
    if request.method == "GET" and "prefetch" not in request.headers.get("Sec-Purpose", ""):
        note(subscriber, keys, Kind.SHOWN, datetime.now(UTC))
    marks = {mark.article_id: mark for mark in Mark.objects.filter(subscriber=subscriber, article__in=keys)}
    context = {
        "articles": shown,
        "marks": marks,
        "given": feedback.given(subscriber, keys),
        "exploring": exploring,
        "asked": asked,
        "views": VIEWS,
        "orders": ORDERS,
        "folders": folders_of(subscriber),
        "page": number,
        "newer": number - 1,
        "older": number + 1 if more and number < LAST_PAGE else 0,
        "follows": subscriber.subscriptions.exists() or subscriber.topics.exists(),
        "hidden": hidden_articles(subscriber).count(),
    }
    return render(request, "me/reading_list.html", context)


@require_POST
def mark(request: HttpRequest, pk: int, word: str) -> HttpResponse:
    """Mark one article as read or starred, or take that back."""
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
    """Mark all that the list holds as read."""
    subscriber = subscriber_of(request.user)
    asked = _Asked(request)
    done = mark_all_read(subscriber, asked.articles(subscriber), datetime.now(UTC))
    messages.success(request, f"{done} articles are marked as read.")
    return redirect(f"/me/?{asked.query}" if asked.query else "/me/")


class _Asked:
    """What a request for the list names: folder, words, view and order."""

    def __init__(self, request: HttpRequest) -> None:
        given = request.POST if request.method == "POST" else request.GET
        self.folder = folder_named(given.get("folder", "").replace("\0", ""))
        self.q = given.get("q", "").replace("\0", "")[:300]
        self.view = given.get("view", "") if given.get("view", "") in VIEWS else "all"
        self.order = given.get("order", "") if given.get("order", "") in ORDERS else "newest"

    @property
    def query(self) -> str:
        """The same as an address has it."""
        usual = {"view": "all", "order": "newest"}
        named = {"folder": self.folder, "q": self.q, "view": self.view, "order": self.order}
        return urlencode({name: value for name, value in named.items() if value and value != usual.get(name)})

    def articles(self, subscriber: Subscriber) -> ArticleQuerySet:
        """The articles of the list, newest first."""
        if self.view == "starred":  # whether or not their feed is still followed
            stars = Article.objects.filter(marked_starred(subscriber)).newest_first()
            return stars.search(self.q)
        if self.view == "hidden":
            return Article.objects.filter(pk__in=hidden_articles(subscriber)).newest_first().search(self.q)
        found = followed(subscriber, self.folder).search(self.q)
        found = found.exclude(pk__in=hidden_articles(subscriber))
        if self.view == "unread":
            found = found.filter(~marked_read(subscriber))
        return once_a_story(found, subscriber)


def _page(
    subscriber: Subscriber, articles: ArticleQuerySet, order: str, number: int
) -> tuple[list[int], frozenset[int], bool]:
    """Primary keys of one page, those of them that are there to explore, and whether there are more."""
    first = (number - 1) * PAGE_ARTICLES
    if order == "newest":
        keys = list(articles.values_list("pk", flat=True)[first : first + PAGE_ARTICLES + 1])
        return keys[:PAGE_ARTICLES], frozenset(), len(keys) > PAGE_ARTICLES
    placed = ranked(subscriber, articles[:RANKED])
    shown = placed[first : first + PAGE_ARTICLES]
    exploring = frozenset(one.article_id for one in shown if one.exploring)
    return [one.article_id for one in shown], exploring, len(placed) > first + PAGE_ARTICLES


def _page_number(request: HttpRequest) -> int:
    given = request.GET.get("page", "1")
    number = int(given) if given.isascii() and given.isdecimal() and len(given) <= 6 else 1
    return min(max(number, 1), LAST_PAGE)
