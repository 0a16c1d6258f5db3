"""Pages about articles: the list with its search, and one article."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from articles.body import body_of
from articles.enrichment.models import Enrichment
from articles.enrichment.views import told
from articles.filters import ArticleFilter
from articles.interest import feedback
from articles.listing import RANKED, by_relevance, lean, snippets
from articles.models import Article, Mark
from articles.personal.following import subscriber_of
from articles.personal.marking import mark_read
from crawler.web.pages import render_list
from crawler.web.pagination import page_of
from crawler.web.templatetags.freshet import language_name

MAX_MEMBERS = 50


@require_safe
def article_list(request: HttpRequest) -> HttpResponse:
    """Show all articles, searched and filtered, newest or most relevant first."""
    filterset = ArticleFilter(request.GET, Article.objects.newest_first())
    rows, filters = filterset.qs, filterset.form.cleaned_data
    words = filters.get("q", "")
    ranked = words and request.GET.get("sort") == "relevance"
    page = page_of(request, lean(by_relevance(rows, words) if ranked else rows), size=40)
    articles: list[Article] = list(page.object_list)
    return render_list(
        request,
        "articles/list.html",
        "articles/_results.html",
        {
            "form": filterset.form,
            "page": page,
            "articles": articles,
            "snippets": snippets(articles, words) if words else {},
            "words": words,
            "ranked": RANKED if ranked else None,
            "feed": filters.get("feed"),
            "filtered": any(value not in {None, ""} for value in filters.values()),
        },
    )


@require_safe
def article_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one article: its content, its enrichment, and the other feeds that carry it."""
    rows = Article.objects.select_related("feed", "page").defer("search", "page__html", "feed__fingerprints")
    article = get_object_or_404(rows, pk=pk)
    return render(
        request,
        "articles/article.html",
        {
            "article": article,
            "language": language_name(article.language) if article.language else "",
            **_enrichment(article),
            **_opened(request, article),
            **_bodies(article),
        },
    )


def _enrichment(article: Article) -> dict[str, Any]:
    """Return the article's enrichment, and the other members of its story."""
    row = Enrichment.objects.select_related("story").defer("signature", "bands").filter(pk=article.pk).first()
    if row is None or row.story_id is None:
        return {"enrichment": row, "members": []}
    return {"enrichment": row, "members": told().filter(story=row.story_id).exclude(pk=row.pk)[:MAX_MEMBERS]}


def _opened(request: HttpRequest, article: Article) -> dict[str, Any]:
    """Note that the subscriber has opened the article, and mark it read. Returns their mark and feedback."""
    subscriber = subscriber_of(request.user)
    if feedback.note_opening(request, article.pk):
        mark_read(subscriber, [article.pk], datetime.now(UTC))
    mark = Mark.objects.filter(subscriber=subscriber, article=article).first()
    return {"mark": mark, "given": feedback.given(subscriber, [article.pk]).get(article.pk, ())}


def _bodies(article: Article) -> dict[str, Any]:
    """Return the feed's content and the page's as sanitised HTML, and which comes first."""
    body = body_of(article)
    return {"from_feed": body.feed, "from_page": body.page, "page_first": body.source == "page"}
