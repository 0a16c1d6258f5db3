"""The pages to read about feeds: the table, one feed, and the log of all visits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Q, Sum
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crawler.web.pages import render_list
from crawler.web.pagination import page_of
from feeds.categories import all_paths
from feeds.charts import clock, forecast_series, heat_map, sparkline, training_series
from feeds.explain import next_visits
from feeds.filters import ORDERS, FeedFilter, RetrievalFilter, articles_a_day, folder_choices, in_order
from feeds.models import Feed, PostingHistory, Retrieval
from feeds.opml import export_opml
from feeds.posting import hour_tables


@require_safe
def feed_list(request: HttpRequest) -> HttpResponse:
    """All feeds: searched, filtered, sorted, and picked for actions."""
    now = datetime.now(UTC)
    rows = Feed.objects.select_related("host").defer("fingerprints", "description")
    found = FeedFilter(request.GET, rows)
    sort = request.GET.get("sort", "")
    sort = sort if sort.removeprefix("-") in ORDERS else "title"
    page = page_of(request, in_order(found.qs, sort, now))
    feeds: list[Feed] = list(page.object_list)
    return render_list(
        request,
        "feeds/list.html",
        "feeds/_table.html",
        {
            "form": found.form,
            "page": page,
            "feeds": feeds,
            "sort": sort,
            "any_feed": bool(feeds) or Feed.objects.exists(),
            "visits": next_visits(feeds, now),
            "rates": articles_a_day((feed.id for feed in feeds), now),
            "sparks": _sparklines(feeds),
            "paths": {key: " / ".join(path) for key, path in all_paths().items()},
            "folders": folder_choices(),
        },
    )


@require_safe
def feed_page(request: HttpRequest, pk: int) -> HttpResponse:
    """One feed: what comes next and why, its habits, and how its visits went."""
    feeds = Feed.objects.select_related("host", "category", "history", "hub_subscription").defer(
        "fingerprints"
    )
    feed = get_object_or_404(feeds, pk=pk)
    now = datetime.now(UTC)
    log = page_of(request, Retrieval.objects.filter(feed=feed), size=25)
    return render_list(
        request,
        "feeds/feed.html",
        "feeds/_log.html",
        {
            "feed": feed,
            "page": log,
            "visit": next_visits([feed], now)[feed.id],
            "rate": articles_a_day([feed.id], now)[feed.id],
            "log": _shares(feed, now),
            "articles": feed.articles.defer("text", "content", "summary", "search")[:10],
            "aliases": feed.aliases.all()[:50],
            "folders": folder_choices(),
            "public_url": settings.PUBLIC_URL,
            **_habits(feed, now),
        },
    )


@require_safe
def visit_list(request: HttpRequest) -> HttpResponse:
    """Visits of all feeds, the last first, filtered by outcome, failure and time."""
    rows = Retrieval.objects.select_related("feed").defer("feed__fingerprints").order_by("-at", "-id")
    found = RetrievalFilter(request.GET, rows)
    context = {"form": found.form, "page": page_of(request, found.qs)}
    return render_list(request, "feeds/visits.html", "feeds/_visits.html", context)


@never_cache
@require_safe
def series(request: HttpRequest, pk: int, kind: str) -> JsonResponse:
    """The numbers behind a feed's charts: `training` or `forecast`."""
    kinds = {"training": training_series, "forecast": forecast_series}
    if kind not in kinds:
        raise Http404(f"no series is called {kind}")
    return JsonResponse(kinds[kind](get_object_or_404(Feed.objects.only("id"), pk=pk)))


@require_safe
def opml(request: HttpRequest) -> HttpResponse:
    """All feeds as an OPML file."""
    name = f"freshet-{datetime.now(UTC):%Y-%m-%d}.opml"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(export_opml(), "text/x-opml; charset=utf-8", headers=headers)


def _sparklines(feeds: list[Feed]) -> dict[int, str]:
    rows = PostingHistory.objects.filter(feed__in=feeds).values_list("feed_id", "hourly")
    rates = {feed: memoryview(bytes(hourly)).cast("f").tolist() for feed, hourly in rows}
    return {feed: sparkline(hourly, "posting by hour of day, UTC") for feed, hourly in rates.items()}


def _habits(feed: Feed, now: datetime) -> dict[str, Any]:
    """Clock and heat map of the posting history, where there is one."""
    history = getattr(feed, "history", None)
    if history is None:
        return {"clock": None, "heat": None}
    hourly, counts, exposure = hour_tables(history)
    weekly = [
        [float(count / hours) if hours > 0.2 else None for count, hours in zip(*day, strict=True)]
        for day in zip(counts, exposure, strict=True)
    ]
    return {
        "clock": clock([float(rate) for rate in hourly], now.hour + now.minute / 60),
        "heat": heat_map(weekly),
        "hourly": [float(rate) for rate in hourly],
        "watched": float(exposure.sum()),
    }


def _shares(feed: Feed, now: datetime) -> dict[str, Any]:
    """How the visits of the last 30 days went, in numbers."""
    visits = Retrieval.objects.filter(feed=feed, pushed=False, at__gte=now - timedelta(days=30)).order_by()
    outcome = Retrieval.Outcome
    return visits.aggregate(
        visits=Count("id"),
        conditional=Count("id", filter=Q(conditional=True)),
        not_modified=Count("id", filter=Q(outcome=outcome.NOT_MODIFIED)),
        same_body=Count("id", filter=Q(outcome=outcome.SAME_BODY)),
        useful=Count("id", filter=Q(outcome=outcome.NEW)),
        failed=Count("id", filter=Q(outcome=outcome.FAILED)),
        new=Sum("new", default=0),
        bytes=Sum("bytes", default=0),
        last=Max("at"),
        trained=Count("id", filter=Q(m__isnull=False)),
        forecast=Count("id", filter=Q(expected__isnull=False)),
    )
