"""The pages about the deployment as a whole: overview and feed health."""

from __future__ import annotations

import math
import re
import shutil
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from articles.listing import latest
from crawler.engine.ticking import tick_seconds
from crawler.operation.site import phrases
from crawler.operation.site.disk_space import days_left
from crawler.operation.site.failures import (
    failing_feeds,
    failing_hosts,
    page_troubles,
    resting_feeds,
)
from crawler.operation.site.health import check_health
from crawler.operation.site.overview import failing_by_kind, hourly_series, retrieved_within, soonest_visits
from crawler.operation.site.retention_rules import MAX_DAYS, kept
from crawler.operation.site.statistics import statistics
from crawler.web.attempts import seconds_to_wait
from feeds.phrases import advice, duration, failure_words

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
    """Show health, freshness, failures and use of the budget, and the next visits."""
    now = datetime.now(UTC)
    return render(
        request,
        "crawler/overview.html",
        {**_tiles(now), "visits": soonest_visits(now), "latest": latest(12)},
    )


@never_cache
@require_safe
def overview_tiles(request: HttpRequest) -> HttpResponse:
    """Show the overview's figures alone, requested every ten seconds."""
    return render(request, "crawler/_tiles.html", _tiles(datetime.now(UTC)))


@never_cache
@require_safe
def overview_visits(request: HttpRequest) -> HttpResponse:
    """Show the overview's next visits and latest articles alone, requested every minute."""
    context = {"visits": soonest_visits(datetime.now(UTC)), "latest": latest(12)}
    return render(request, "crawler/_soon.html", context)


@never_cache
@require_safe
def overview_hours(request: HttpRequest) -> JsonResponse:
    """Return the series behind the overview's chart."""
    return JsonResponse(hourly_series(datetime.now(UTC)))


@require_safe
def feed_health(request: HttpRequest) -> HttpResponse:
    """Show everything that does not work as it should, with what will happen next."""
    now = datetime.now(UTC)
    return render(
        request,
        "crawler/feed_health.html",
        {
            "kinds": failing_by_kind(),
            "hosts": failing_hosts(),
            "failing": failing_feeds(now),
            "gone": resting_feeds("gone"),
            "paused": resting_feeds("paused"),
            "pages": page_troubles(),
        },
    )


@require_safe
def kept_page(request: HttpRequest) -> HttpResponse:
    """Show what is kept for how long, and what ?days= would delete."""
    text = request.GET.get("days", "")
    days = int(text) if re.fullmatch("[0-9]{1,5}", text) else 365
    days = min(max(days, 1), MAX_DAYS)
    context = {"days": days, "max_days": MAX_DAYS, "rows": kept(days, datetime.now(UTC))}
    return render(request, "crawler/kept.html", context)


def _tiles(now: datetime) -> dict[str, Any]:
    day = now - timedelta(hours=24)
    health, figures, kinds = check_health(now), statistics(now), failing_by_kind()
    free_bytes = shutil.disk_usage(settings.DATA_DIR).free
    return {
        "now": now,
        "health": health,
        "verdict": phrases.verdict(health, figures.failing, free_bytes),
        "parts": phrases.parts(health),
        "figures": figures,
        "freshness": phrases.freshness(figures),
        "half": duration(figures.delay.p50) if figures.delay.p50 is not None else "",
        "cost": phrases.cost(figures),
        "free_bytes": free_bytes,
        "days_left": days_left(now, free_bytes),
        "retrieved": retrieved_within(now),
        "kinds": kinds,
        "troubles": [
            (row, failure_words(row["failure"], None, now), advice(row["failure"])) for row in kinds[:12]
        ],
        "day": f"{day:%Y-%m-%dT%H:%M}",
        "tick_seconds": round(tick_seconds()),
    }
