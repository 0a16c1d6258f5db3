"""The pages about articles: the list with its search, and one article."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.html import strip_tags
from django.views.decorators.http import require_safe

from articles.enrichment.models import Enrichment
from articles.enrichment.views import told
from articles.filters import ArticleFilter, language_name
from articles.interest import feedback
from articles.listing import RANKED, by_relevance, lean, snippets
from articles.models import Article, Mark
from articles.personal.following import subscriber_of
from articles.personal.marking import mark_read
from crawler.web.pages import render_list
from crawler.web.pagination import page_of

MOST_MEMBERS = 50
FULLER = 1.3
"""A page's text is shown first when it is longer than the feed's content by this factor."""


@require_safe
def article_list(request: HttpRequest) -> HttpResponse:
    """All articles: searched, filtered, newest or best first."""
    found = ArticleFilter(request.GET, Article.objects.newest_first())
    rows, given = found.qs, found.form.cleaned_data
    words = given.get("q", "")
    ranked = words and request.GET.get("sort") == "relevance"
    page = page_of(request, lean(by_relevance(rows, words) if ranked else rows))
    articles: list[Article] = list(page.object_list)
    return render_list(
        request,
        "articles/list.html",
        "articles/_results.html",
        {
            "form": found.form,
            "page": page,
            "articles": articles,
            "snippets": snippets(articles, words) if words else {},
            "words": words,
            "ranked": RANKED if ranked else None,
            "feed": given.get("feed"),
            "filtered": any(value not in {None, ""} for value in given.values()),
        },
    )


@require_safe
def article_page(request: HttpRequest, pk: int) -> HttpResponse:
    """One article: its content, what is known of it, and the other feeds that carry it."""
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
    """What was made of the article, and the other members of its story."""
    row = Enrichment.objects.select_related("story").defer("signature", "bands").filter(pk=article.pk).first()
    if row is None or row.story_id is None:
        return {"enrichment": row, "members": []}
    return {"enrichment": row, "members": told().filter(story=row.story_id).exclude(pk=row.pk)[:MOST_MEMBERS]}


def _opened(request: HttpRequest, article: Article) -> dict[str, Any]:
    """Note that a subscriber has opened an article, which is read then; their marks and what they said."""
    subscriber = subscriber_of(request.user)
    if feedback.note_opening(request, article.pk):
        mark_read(subscriber, [article.pk], datetime.now(UTC))
    mark = Mark.objects.filter(subscriber=subscriber, article=article).first()
    return {"mark": mark, "given": feedback.given(subscriber, [article.pk]).get(article.pk, ())}


def _bodies(article: Article) -> dict[str, Any]:
    """What the feed gave (sanitised HTML), the page's text in paragraphs, and which of them comes first."""
    gave = article.content or article.summary
    text = article.page.text if article.page else ""
    return {
        "feed_gave": gave,
        "paragraphs": [part.strip() for part in re.split(r"\n+", text) if part.strip()],
        "page_first": len(text) > FULLER * len(strip_tags(gave)),
    }
