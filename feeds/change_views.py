"""Pages that change feeds: adding feeds, following their first visits, and actions on picked feeds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crawler.engine.pulses import worker_alive
from crawler.engine.wake import wake_controller
from crawler.web.pages import safe_next
from crawler.web.permissions import staff_only
from feeds import signals
from feeds.adding import Added
from feeds.filters import folder_choices
from feeds.first_visits import first_visits, progress_since
from feeds.forms import AddFeedsForm, PickedFeedsForm
from feeds.models import Category, Feed
from feeds.opml import OpmlError
from feeds.pausing import pause, resume
from feeds.selection import retrieve_now

FOLLOWED = 50
"""Maximum number of new feeds whose first visits are shown one by one; otherwise counts are shown."""


@staff_only
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """Show the form that adds feeds, or add feeds and show the outcome of each address."""
    if request.method != "POST":
        form = AddFeedsForm(initial={"addresses": request.GET.get("url", "")})
        return render(request, "feeds/add.html", {"form": form, "folders": folder_choices()})
    form = AddFeedsForm(request.POST, request.FILES)
    since = datetime.now(UTC) - timedelta(seconds=1)
    outcomes: list[Added] = []
    if form.is_valid():
        try:
            outcomes = form.add()
        except OpmlError as error:
            form.add_error("opml", f"Nothing was added: {error}")
    if not form.is_valid():
        context = {"form": form, "folders": folder_choices()}
        return render(request, "feeds/add.html", context, status=422)
    feeds = [outcome.feed for outcome in outcomes if outcome.feed is not None]
    if feeds and form.cleaned_data["follow"]:
        signals.added.send(Feed, user=request.user, feeds=feeds)
    return render(request, "feeds/added.html", _outcome_context(outcomes, since))


@never_cache
@require_safe
def added(request: HttpRequest) -> HttpResponse:
    """Show the first visits of the feeds `ids`, or counts for all feeds added since `since`."""
    ids = [int(key) for key in request.GET.get("ids", "").split(",") if key.isdecimal() and len(key) < 19]
    if ids:
        return render(request, "feeds/_first_visits.html", _followed(ids[:FOLLOWED]))
    try:
        since = datetime.fromtimestamp(float(request.GET.get("since", "")), UTC)
    except (ValueError, OverflowError, OSError):
        raise Http404("say which feeds: ids=... or since=...") from None
    return render(request, "feeds/_progress.html", _progress(since))


@staff_only
@require_POST
def change(request: HttpRequest) -> HttpResponse:
    """Pause, resume, retrieve now or move the picked feeds, then redirect to the page they were picked on."""
    form = PickedFeedsForm(request.POST)
    back = safe_next(request, reverse("feeds"))
    if not form.is_valid():
        messages.error(request, "Nothing was changed: pick at least one feed and an action.")
        return HttpResponseRedirect(back)
    feeds = Feed.objects.filter(id__in=form.cleaned_data["feed"])
    act = ACTIONS[form.cleaned_data["action"]]
    messages.success(request, act(feeds, f"asked for by {request.user}", form.cleaned_data["category"]))
    return HttpResponseRedirect(back)


def _pause(feeds: QuerySet[Feed], because: str, category: str) -> str:
    return f"Paused {_feeds(pause(feeds))}: no visits until resumed."


def _resume(feeds: QuerySet[Feed], because: str, category: str) -> str:
    return f"Resumed {_feeds(resume(feeds))}: the schedule says when each is visited next."


def _retrieve(feeds: QuerySet[Feed], because: str, category: str) -> str:
    chosen, selected = feeds.count(), retrieve_now(feeds, because)
    wake_controller()
    skipped = chosen - selected
    remainder = (
        f" {_feeds(skipped)} not: paused, on the way already, or visited moments ago." if skipped else ""
    )
    return f"{_feeds(selected)} to be checked now.{remainder}"


def _move(feeds: QuerySet[Feed], because: str, category: str) -> str:
    target = Category.objects.filter(pk=category).first() if category else None
    return f"Moved {_feeds(feeds.update(category=target))} to {target or 'no folder'}."


ACTIONS: dict[str, Callable[[QuerySet[Feed], str, str], str]] = {
    "pause": _pause,
    "resume": _resume,
    "retrieve": _retrieve,
    "move": _move,
}


def _feeds(number: int) -> str:
    return f"{number:,} feed" if number == 1 else f"{number:,} feeds"


def _outcome_context(outcomes: list[Added], since: datetime) -> dict[str, Any]:
    new = [each.feed.id for each in outcomes if each.outcome == "added" and each.feed is not None]
    follow = _followed(new) if len(new) <= FOLLOWED else _progress(since)
    return {
        "added": len(new),
        "duplicates": [each for each in outcomes if each.outcome == "duplicate"],
        "refused": [each for each in outcomes if each.outcome == "refused"],
        "one_by_one": len(new) <= FOLLOWED,
        **follow,
    }


def _followed(ids: list[int]) -> dict[str, Any]:
    visits = first_visits(ids)
    open_visits = any(visit.open for visit in visits)
    return {
        "visits": visits,
        "ids": ",".join(map(str, ids)),
        "open": open_visits,
        "worker": not open_visits or worker_alive("fetch", datetime.now(UTC)),
    }


def _progress(since: datetime) -> dict[str, Any]:
    return {"progress": progress_since(since), "since": f"{since.timestamp():.3f}"}
