"""The page with the news of Freshet's versions, and the deed that puts their line away."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from crawler.operation.site.news import NEWS, note_seen
from crawler.web.pages import safe_next, wants_part
from crawler.web.permissions import person_of


@require_safe
def news_page(request: HttpRequest) -> HttpResponse:
    """List the news of the versions, newest first; who looks at them is told of them no more."""
    if request.method == "GET" and "prefetch" not in request.headers.get("Sec-Purpose", ""):
        note_seen(person_of(request))
    return render(request, "crawler/news.html", {"versions": NEWS})


@require_POST
def news_seen(request: HttpRequest) -> HttpResponse:
    """Put the line about news away for this person."""
    note_seen(person_of(request))
    return (
        HttpResponse() if wants_part(request) else HttpResponseRedirect(safe_next(request, reverse("read")))
    )
