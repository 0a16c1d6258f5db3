"""The list of articles related to one, a part of its page."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from articles.meaning.related import related_articles
from articles.models import Article
from crawler.web.pages import wants_part


@require_safe
def related(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the articles related to one: for htmx their list, else a page with it."""
    if not settings.EMBEDDINGS_URL:
        raise Http404("there is no embeddings endpoint")
    rows = Article.objects.select_related("enrichment", "feed").only(
        "title", "text", "url", "identity", "language", "page", "owner", "feed__title", "feed__url",
        "enrichment__story",
    )  # fmt: skip
    article = get_object_or_404(rows, pk=pk)
    template = "meaning/_related.html" if wants_part(request) else "meaning/related.html"
    response = render(request, template, {"article": article, "related": related_articles(article)})
    patch_vary_headers(response, ["HX-Request"])
    return response
