"""Marks of an article on its own page, and the former address of the reading list."""

from __future__ import annotations

from datetime import UTC, datetime

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from articles.models import Article, Mark
from articles.personal.following import subscriber_of
from articles.personal.marking import mark_read, star
from crawler.web.pages import safe_next, wants_part

WORDS = ("read", "unread", "star", "unstar")


@require_safe
def reading_list(request: HttpRequest) -> HttpResponse:
    """Lead to the reader or, with words, to the search: this was a page of its own until the reader came."""
    parameters = request.GET
    if words := parameters.get("q", ""):
        return HttpResponseRedirect(f"{reverse('search')}?{urlencode({'q': words})}")
    query = {"folder": parameters.get("folder", "")}
    query |= {"show": parameters["view"]} if parameters.get("view") in {"all", "starred"} else {}
    query |= {"order": "interest"} if parameters.get("order") == "interest" else {}
    query_string = urlencode({name: value for name, value in query.items() if value})
    return HttpResponseRedirect(f"{reverse('read')}?{query_string}" if query_string else reverse("read"))


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
