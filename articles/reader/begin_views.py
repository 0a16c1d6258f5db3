"""Feeds that somebody who follows none is offered on the first page."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import get_language, ngettext, pgettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from articles.personal.following import follow, subscriber_of
from crawler.web.permissions import needs
from crawler.web.roles import EDITOR
from feeds.adding.add import WantedFeed, add_feeds
from feeds.adding.beginnings import BEGINNINGS, FALLBACK, LANGUAGES, beginnings_in

TOPIC_NAMES = {
    "news": pgettext_lazy("topic", "News"),
    "technology": pgettext_lazy("topic", "Technology"),
    "science": pgettext_lazy("topic", "Science"),
    "culture": pgettext_lazy("topic", "Culture"),
}


def beginnings_for(request: HttpRequest) -> dict[str, Any]:
    """Return the feeds to begin with in the language that was asked for, else in that of the page."""
    language = request.GET.get("feeds", "") or get_language() or ""
    spoken = language.partition("-")[0].lower()
    return {
        "beginnings": [(str(TOPIC_NAMES[topic]), rows) for topic, rows in beginnings_in(spoken)],
        "beginning_languages": LANGUAGES,
        "beginning_language": spoken if spoken in LANGUAGES else FALLBACK,
    }


@needs(EDITOR)
@require_POST
def begin(request: HttpRequest) -> HttpResponse:
    """Follow feeds of those to begin with, each in the folder of its topic."""
    chosen_urls = set(request.POST.getlist("feed"))
    rows = [each for each in BEGINNINGS if each.url in chosen_urls]
    if not rows:
        messages.info(request, _("Choose at least one feed."))
        return redirect("read")
    subscriber = subscriber_of(request.user)
    outcomes = add_feeds([WantedFeed(each.url, each.title) for each in rows])
    for each, outcome in zip(rows, outcomes, strict=True):
        if outcome.feed is not None:
            follow(subscriber, outcome.feed, folder=str(TOPIC_NAMES[each.topic]))
    count = sum(outcome.feed is not None for outcome in outcomes)
    messages.success(
        request,
        ngettext(
            "You follow %(n)s feed. Its first articles are here in a minute.",
            "You follow %(n)s feeds. Their first articles are here in a minute.",
            count,
        )
        % {"n": count},
    )
    return redirect("read")
