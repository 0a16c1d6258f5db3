"""Pages that show feeds: the table, one feed, and the log of all visits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crawler.database.readers import visible
from crawler.web.pages import render_list, wants_part
from crawler.web.pagination import page_of
from crawler.web.permissions import needs
from crawler.web.roles import EDITOR, OPERATOR
from feeds.adding.opml import export_opml
from feeds.categories import all_paths
from feeds.models import Feed, PostingHistory, Retrieval
from feeds.pace import MIN_ARTICLES, Posted, how_often
from feeds.pages.charts import clock, forecast_series, heat_map, sparkline, training_series, weekly_bars
from feeds.pages.deeds import deeds_for
from feeds.pages.filters import (
    HEALTH,
    ORDERS,
    FeedFilter,
    RetrievalFilter,
    articles_a_day,
    folder_choices,
    health_counts,
    in_order,
    posting_counts,
)
from feeds.pages.week import counts_of_week, part_of_week, week_strip
from feeds.phrases import (
    SILENT,
    FeedFacts,
    advice,
    disputed,
    duration,
    next_check,
    rhythm,
    short_check,
    state_of,
    usual_hours,
)
from feeds.visiting.explain import NextVisit, next_visits
from feeds.visiting.posting import floats, plan_of
from feeds.websub.models import HubSubscription

MAX_POSTED = 500
LAST_VISITS = 6
LOG_ROWS = 10
DAY_SECONDS = 86_400.0
SORTS = (
    ("folder", gettext_lazy("By folder")),
    ("title", gettext_lazy("By name")),
    ("-rate", gettext_lazy("Most articles first")),
    ("-new", gettext_lazy("Newest article first")),
    ("next", gettext_lazy("Next check first")),
    ("failing", gettext_lazy("Failing longest first")),
)
ROWS = 30
"""Feeds on one page of the table."""
MORE = ("status", "phase", "failing", "failure", "format", "language", "host", "retrieved", "waiting")
"""Filters that stand behind "More"."""


@require_safe
def feed_list(request: HttpRequest) -> HttpResponse:
    """Show all feeds by folder, searchable, filterable and sortable, with actions on picked feeds."""
    now = datetime.now(UTC)
    filterset = FeedFilter(request.GET, Feed.objects.all())
    sort = request.GET.get("sort", "")
    sort = sort if sort.removeprefix("-") in {*ORDERS, "folder"} else "folder"
    page = page_of(request, in_order(filterset.qs, sort, now).values_list("pk", flat=True), size=ROWS)
    keys = list(page.object_list)
    by_key = _rows().in_bulk(keys)  # joins for the rows of the page alone
    feeds = [by_key[key] for key in keys if key in by_key]
    query = request.GET.copy()
    for name in ("health", "page", "edit"):
        query.pop(name, None)
    return render_list(
        request,
        "feeds/list.html",
        "feeds/_table.html",
        {
            "form": filterset.form,
            "page": page,
            "feeds": feeds,
            "sort": sort,
            "sorts": SORTS,
            "by_folder": sort == "folder",
            "health": request.GET.get("health", ""),
            "health_counts": (counts := health_counts()),
            "chips": [("", _("All"), counts[""])]
            + [(name, words, counts[name]) for name, (words, _condition) in HEALTH.items()],
            "query": query.urlencode(),
            "any_feed": bool(counts[""]),
            "narrowed": any(filterset.form[name].value() for name in MORE),
            "edit": request.GET.get("edit", ""),
            **_row_context(feeds, now),
        },
    )


@needs(EDITOR)
@require_safe
def feed_row(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one row of the table, with `edit` as a form."""
    feed = get_object_or_404(_rows(), pk=pk)
    context = {"feed": feed, "edit": str(pk) if request.GET.get("edit") else ""}
    return render(request, "feeds/_row.html", context | _row_context([feed], datetime.now(UTC)))


def _rows() -> QuerySet[Feed]:
    return Feed.objects.select_related("host", "hub_subscription").defer("fingerprints", "description")


def _row_context(feeds: list[Feed], now: datetime) -> dict[str, Any]:
    """Return what rows of the table show: states, next checks, how often each posts, and folders."""
    zone, visits = timezone.get_current_timezone(), next_visits(feeds, now, explained=False)
    facts = {feed.id: facts_of(feed, visits[feed.id]) for feed in feeds}
    posted, paths = posting_counts((feed.id for feed in feeds), now), all_paths()
    return {
        "states": {key: state_of(fact, now) for key, fact in facts.items()},
        "checks": {key: short_check(fact, now, zone) for key, fact in facts.items()},
        "posts": {key: how_often(posted.get(key, Posted()), now) for key in facts},
        "sparks": _sparklines(feeds),
        "paths": {key: " / ".join(path) for key, path in paths.items()},
        "folders": folder_choices(paths),
    }


@require_safe
def feed_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one feed: its articles, its rhythm, what is wrong with it, how it is set, and its last visits."""
    feeds = Feed.objects.select_related("host", "category", "history", "hub_subscription").defer(
        "fingerprints"
    )
    feed = get_object_or_404(feeds, pk=pk)
    now, zone = datetime.now(UTC), timezone.get_current_timezone()
    pictures: dict[str, Any] = {}
    if request.GET.get("by") == "hour":
        pictures = _pictures(feed, now.astimezone(zone))
        if wants_part(request):
            return _varying(render(request, "feeds/_pictures.html", pictures))
    log = page_of(request, Retrieval.objects.filter(feed=feed), size=LOG_ROWS)
    posted = _posted(feed, now)
    recent = [at for at in posted if now - at <= SILENT]
    visit = next_visits([feed], now)[feed.id]
    facts = facts_of(feed, visit)
    return render_list(
        request,
        "feeds/feed.html",
        "feeds/_log.html",
        {
            "feed": feed,
            "page": log,
            "visit": visit,
            "state": state_of(facts, now),
            "rhythm": rhythm(posted, now, zone),
            "next_check": next_check(facts, now, usual_hours(posted, now, zone), zone),
            "deeds": deeds_for(feed),
            "advice": _advice(feed),
            "is_late": bool(feed.failure_streak or feed.proposed) or feed.status != Feed.Status.ACTIVE,
            "last_visits": Retrieval.objects.filter(feed=feed)[:LAST_VISITS],
            "rate": articles_a_day([feed.id], now)[feed.id],
            "log": _shares(feed, now),
            "aliases": feed.aliases.all()[:50],
            "folders": folder_choices(),
            "is_editing": bool(request.GET.get("edit")),
            "public_url": settings.PUBLIC_URL,
            "has_pictures": bool(recent) or hasattr(feed, "history"),
            **_week(recent, visit, now),
            **pictures,
        },
    )


@require_safe
def visit_list(request: HttpRequest) -> HttpResponse:
    """Show the visits of all feeds, newest first, filtered by outcome, failure and time."""
    rows = visible(Retrieval.objects.select_related("feed").defer("feed__fingerprints"), "feed__owner_id")
    rows = rows.order_by("-at", "-id")
    filterset = RetrievalFilter(request.GET, rows)
    context = {"form": filterset.form, "page": page_of(request, filterset.qs)}
    return render_list(request, "feeds/visits.html", "feeds/_visits.html", context)


@needs(OPERATOR)
@require_safe
def opinion_list(request: HttpRequest) -> HttpResponse:
    """Show the feeds that a second reader reads otherwise than ours, with both readings."""
    feeds = Feed.objects.disputed().defer("fingerprints", "description").order_by("-opinion_at", "id")
    page = page_of(request, feeds, size=ROWS)
    rows = [(feed, [(disputed(point["kind"]), point) for point in feed.opinion]) for feed in page.object_list]
    return render(request, "feeds/opinions.html", {"page": page, "rows": rows})


@never_cache
@require_safe
def series(request: HttpRequest, pk: int, kind: str) -> JsonResponse:
    """Return the numbers of a feed's chart: `training` or `forecast`."""
    kinds = {"training": training_series, "forecast": forecast_series}
    if kind not in kinds:
        raise Http404(f"no series is called {kind}")
    return JsonResponse(kinds[kind](get_object_or_404(Feed.objects.only("id"), pk=pk)))


@require_safe
def opml(request: HttpRequest) -> HttpResponse:
    """Return all feeds as an OPML file."""
    name = f"freshet-{datetime.now(UTC):%Y-%m-%d}.opml"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(export_opml(), "text/x-opml; charset=utf-8", headers=headers)


def _sparklines(feeds: list[Feed]) -> dict[int, str]:
    rows = PostingHistory.objects.filter(feed__in=feeds).values_list("feed_id", "hourly")
    rates = {feed: memoryview(bytes(hourly)).cast("f").tolist() for feed, hourly in rows}
    now = timezone.localtime()
    hours_ahead = round((now.utcoffset() or timedelta()) / timedelta(hours=1))
    label = _("posting by hour of day, %(zone)s") % {"zone": f"{now:%Z}"}
    return {
        feed: sparkline([hourly[(hour - hours_ahead) % 24] for hour in range(24)], label)
        for feed, hourly in rates.items()
        if len(hourly) == 24
    }


def facts_of(feed: Feed, visit: NextVisit) -> FeedFacts:
    """Return the facts that sentences about a feed are made of."""
    hub = getattr(feed, "hub_subscription", None)
    return FeedFacts(
        status=feed.status,
        is_learning=feed.phase == Feed.Phase.TRAINING,
        was_read=feed.last_success is not None,
        is_on_its_way=feed.lease is not None or feed.selected_at is not None,
        is_pushed=hub is not None and hub.state == HubSubscription.State.ACTIVE,
        failure=feed.failure if feed.failure_streak else "",
        failing_since=feed.failing_since,
        last_new=feed.last_new,
        next_at=visit.at,
        floor=visit.floor,
        moved=bool(feed.moved_to),
    )


def _posted(feed: Feed, now: datetime) -> list[datetime]:
    """Return the newest times of publication that the feed itself gave, the newest first."""
    rows = feed.articles.filter(dating="feed", published__lte=now).order_by("-published")
    return list(rows.values_list("published", flat=True)[:MAX_POSTED])


def _advice(feed: Feed) -> str:
    if feed.status == Feed.Status.GONE:
        return advice("gone")
    return advice(feed.failure) if feed.failure_streak else ""


def _pictures(feed: Feed, now: datetime) -> dict[str, Any]:
    """Return the rhythm of a feed by hour in the time zone of `now`, as it posted and as was learned."""
    posted = [at for at in _posted(feed, now) if now - at <= SILENT]
    return {
        "with_pictures": True,
        "posted": posted,
        "zone": f"{now:%Z}",
        "learned": _learned(feed, now),
        **_habits(posted, now),
    }


def _varying(response: HttpResponse) -> HttpResponse:
    patch_vary_headers(response, ["HX-Request"])
    return response


def _week(posted: Sequence[datetime], visit: NextVisit, now: datetime) -> dict[str, Any]:
    """Return the strip of the week and the time that it was drawn from, nothing for too few articles."""
    if len(posted) < MIN_ARTICLES:
        return {}
    zone = timezone.get_current_timezone()
    is_soon = visit.at is not None and visit.at - now < timedelta(days=7)
    soon = part_of_week(visit.at.astimezone(zone)) if visit.at is not None and is_soon else None
    return {
        "week": week_strip(counts_of_week(posted, zone), soon),
        "week_since": duration(max((now - posted[-1]).total_seconds(), DAY_SECONDS)),
        "week_has_ring": soon is not None,
    }


def _habits(posted: Sequence[datetime], now: datetime) -> dict[str, Any]:
    """Return clock and heat map of the posted articles in the time zone of `now`, None without any."""
    if not posted:
        return {"clock": None, "heat": None}
    days = max((now - posted[-1]).total_seconds() / 86_400, 1.0)
    weekly = [[0] * 24 for _ in range(7)]
    for at in posted:
        local = at.astimezone(now.tzinfo)
        weekly[local.weekday()][local.hour] += 1
    hourly = [sum(day[hour] for day in weekly) / days for hour in range(24)]
    return {
        "clock": clock(hourly, now.hour + now.minute / 60, f"{now:%Z}"),
        "heat": heat_map(weekly, f"{now:%Z}"),
        "hourly": hourly,
    }


def _learned(feed: Feed, now: datetime) -> dict[str, Any] | None:
    """Return what visits are planned by, in the time zone of `now`: the learned rates, and the plan.

    None before the first visit. Zones that are half an hour off are shown to the hour.
    """
    row = PostingHistory.objects.filter(feed=feed).first()
    if row is None:
        return None
    ahead = round((now.utcoffset() or timedelta()) / timedelta(hours=1))

    def local(values: Sequence[float]) -> list[float]:
        return [values[(hour - ahead) % len(values)] for hour in range(len(values))]

    hourly = local(floats(row.hourly))
    weekly, plan = local(floats(row.rates)), plan_of(feed)
    return {
        "clock": clock(hourly, now.hour + now.minute / 60, f"{now:%Z}"),
        "hourly": hourly,
        "days": row.days,
        "weekly": weekly_bars(weekly, _("articles an hour, expected")),
        "plan": weekly_bars(local(plan), _("articles that make a visit worth it")) if plan else None,
    }


def _shares(feed: Feed, now: datetime) -> dict[str, Any]:
    """Count the outcomes of the visits of the last 30 days."""
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
