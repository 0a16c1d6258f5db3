"""The pages about the deployment as a whole: its tools, and what does not work."""

from __future__ import annotations

import math
import re
import shutil
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from articles.listing import latest
from crawler.engine.ticking import tick_seconds
from crawler.operation.site import phrases, troubles
from crawler.operation.site.disk_space import days_left
from crawler.operation.site.failures import (
    failing_feeds,
    failing_hosts,
    page_troubles,
    resting_feeds,
)
from crawler.operation.site.health import Health, check_health
from crawler.operation.site.overview import failing_by_kind, hourly_series, retrieved_within, soonest_visits
from crawler.operation.site.own_troubles import own_groups
from crawler.operation.site.retention_rules import MAX_DAYS, kept
from crawler.operation.site.statistics import statistics
from crawler.operation.site.workshop import workshop
from crawler.web.attempts import seconds_to_wait
from crawler.web.pages import safe_next
from crawler.web.permissions import needs, person_of
from crawler.web.roles import EDITOR, OPERATOR, is_at_least
from feeds.models import Feed
from feeds.pages.change_views import ACTIONS, use_what_was_found
from feeds.pages.forms import PickedFeedsForm

MAX_WAITING = 8
"""Things that wait for a person on the page of the tools; all are on the page of health."""
BUSY_SECONDS = 10
"""After which a sign-in is worth another try that came while too many others waited."""


def locked_out(
    request: HttpRequest, refused: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """Answer a sign-in whose password was not checked (429); in plain text where the view spoke plain text.

    `sign_in_refusal` says why (`crawler.accounts.backends`); axes itself refuses names.
    """
    why = getattr(request, "sign_in_refusal", "name")
    seconds = {
        "name": int(settings.AXES_COOLOFF_TIME.total_seconds()),
        "address": seconds_to_wait(datetime.now(UTC)),
        "busy": BUSY_SECONDS,
    }[why]
    minutes = math.ceil(seconds / 60)
    if refused is not None and refused.headers["Content-Type"].startswith("text/plain"):
        info = "Too many sign-ins at this moment" if why == "busy" else "Too many failed sign-ins"
        wait = f"{seconds} seconds" if why == "busy" else f"{minutes} minutes"
        words = f"Error=TooManyFailures\nInfo={info}; try again in {wait}.\n"
        response = HttpResponse(words, "text/plain; charset=utf-8", status=429)
    else:
        response = render(request, "registration/locked.html", {"minutes": minutes, "why": why}, status=429)
    response.headers["Retry-After"] = str(seconds)
    response.headers["Cache-Control"] = "private, no-store"
    return response


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Lead to what the person's browser remembers as the first page: all unread, For you, or changes."""
    start = request.COOKIES.get("freshet-start", "")
    if start == "changes":
        return redirect("sites")
    return HttpResponseRedirect(
        f"{reverse('read')}?order=interest" if start == "interest" else reverse("read")
    )


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Show whether Freshet is well, four numbers, what waits for the visitor, and the workshop."""
    now = datetime.now(UTC)
    return render(request, "crawler/overview.html", {**_tiles(request, now), "workshop": workshop()})


@never_cache
@require_safe
def overview_tiles(request: HttpRequest) -> HttpResponse:
    """Show the numbers and what waits, and renew the figures for experts; requested every ten seconds."""
    context = {**_tiles(request, datetime.now(UTC)), "is_renewed": True}
    return render(request, "crawler/_tiles.html", context)


@never_cache
@require_safe
def overview_visits(request: HttpRequest) -> HttpResponse:
    """Show the overview's next visits and latest articles, requested once unfolded, then every minute."""
    context = {"visits": soonest_visits(datetime.now(UTC)), "latest": latest(12)}
    return render(request, "crawler/_soon.html", context)


@never_cache
@require_safe
def overview_hours(request: HttpRequest) -> JsonResponse:
    """Return the series behind the overview's chart."""
    return JsonResponse(hourly_series(datetime.now(UTC)))


@require_safe
def feed_health(request: HttpRequest) -> HttpResponse:
    """Show what does not work, in groups by who must act and by cause, each with its deed."""
    now = datetime.now(UTC)
    groups = _groups(request, now, check_health(now), shutil.disk_usage(settings.DATA_DIR).free)
    context = {
        "verdict": troubles.verdict(groups, now),
        "is_well": not groups,
        "sections": [
            (actor, title, [group for group in groups if group.who == actor])
            for actor, title in (
                ("you", _("For you to do")),
                ("waits", _("Freshet waits")),
                ("ended", pgettext("feeds", "Ended or paused")),
            )
        ],
        "totals": _totals(),
    }
    return render(request, "crawler/feed_health.html", context)


@require_safe
def health_details(request: HttpRequest) -> HttpResponse:
    """Show tables of what fails, for experts: by kind, by host, by feed, and pages of articles.

    They are a page of their own because they cost half of the queries of `feed_health` and few open them.
    """
    context = {
        "totals": _totals(),
        "kinds": failing_by_kind(),
        "hosts": failing_hosts(),
        "failing": failing_feeds(datetime.now(UTC)),
        "gone": resting_feeds("gone"),
        "paused": resting_feeds("paused"),
        "pages": page_troubles(),
    }
    return render(request, "crawler/health_details.html", context)


@needs(EDITOR)
@require_POST
def health_deed(request: HttpRequest, group: str, action: str) -> HttpResponse:
    """Do the one deed of a group of feeds for all of them, and go back to where it was offered."""
    back = HttpResponseRedirect(safe_next(request, reverse("feed-health")))
    groups = troubles.feed_groups(datetime.now(UTC), timezone.get_current_timezone(), may_edit=True)
    chosen = next((each for each in groups if each.key == group), None)
    if chosen is None or request.path not in {deed.address for deed in chosen.deeds}:
        messages.warning(request, _("Nothing was changed: it has been mended meanwhile."))
        return back
    feeds = Feed.objects.filter(pk__in=chosen.feeds)
    if action in {"address", "list"}:
        use_what_was_found(request, feeds)
    else:
        ACTIONS[action](request, feeds, PickedFeedsForm({}))
    return back


@require_safe
def kept_page(request: HttpRequest) -> HttpResponse:
    """Show what is kept for how long, and what ?days= would delete."""
    text = request.GET.get("days", "")
    days = int(text) if re.fullmatch("[0-9]{1,5}", text) else 365
    days = min(max(days, 1), MAX_DAYS)
    context = {"days": days, "max_days": MAX_DAYS, "rows": kept(days, datetime.now(UTC))}
    return render(request, "crawler/kept.html", context)


def _totals() -> dict[str, int]:
    totals: dict[str, int] = Feed.objects.active().aggregate(
        active=Count("id"), failing=Count("id", filter=Q(failure_streak__gt=0))
    )
    return totals


def _groups(request: HttpRequest, now: datetime, health: Health, free_bytes: float) -> list[troubles.Group]:
    """Return what does not work, for the visitor: their own affairs first."""
    person, zone = person_of(request), timezone.get_current_timezone()
    room = (free_bytes, days_left(now, free_bytes))
    operates = is_at_least(person, OPERATOR)
    personal_groups = own_groups(person, health, room, now, zone, operates=operates)
    return [*personal_groups, *troubles.feed_groups(now, zone, may_edit=is_at_least(person, EDITOR))]


def _tiles(request: HttpRequest, now: datetime) -> dict[str, Any]:
    health, figures = check_health(now), statistics(now)
    free_bytes = shutil.disk_usage(settings.DATA_DIR).free
    groups = _groups(request, now, health, free_bytes)
    may_edit = is_at_least(person_of(request), EDITOR)
    waiting = [group for group in groups if group.who == "you" and (may_edit or not group.feeds)]
    return {
        "now": now,
        "health": health,
        "verdict": phrases.verdict(health, len(waiting), free_bytes),
        "waiting": waiting[:MAX_WAITING],
        "parts": phrases.parts(health),
        "figures": figures,
        "freshness": phrases.freshness(figures),
        "spent": phrases.spent(figures),
        "bar_width": phrases.bar_width(figures),
        "cost": phrases.cost(figures),
        "free_bytes": free_bytes,
        "days_left": days_left(now, free_bytes),
        "retrieved": retrieved_within(now),
        "kinds": failing_by_kind(),
        "tick_seconds": round(tick_seconds()),
    }
