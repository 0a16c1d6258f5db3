"""The pages about feeds: the table, one feed, adding feeds, and actions on them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max, Q, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crawler.charts import clock, heat_map, sparkline
from crawler.health import worker_alive
from crawler.listing import page_of, render_list
from crawler.wake import wake_controller
from feeds.adding import Added, Wanted, add_feeds
from feeds.categories import all_paths
from feeds.explain import next_visits
from feeds.filters import FeedFilter, articles_a_day, folder_choices
from feeds.first_visits import first_visits, progress_since
from feeds.forms import AddFeedsForm, PickedFeedsForm
from feeds.models import Category, Feed, PostingHistory, Retrieval
from feeds.opml import OpmlError, export_opml, import_opml
from feeds.pausing import pause, resume
from feeds.posting import hour_tables
from feeds.selection import retrieve_now
from feeds.series import forecast_series, training_series

View = Callable[..., HttpResponse]

FOLLOWED = 50
"""New feeds whose first visits are followed one by one; of more, a count is shown."""


def staff_only(view: View) -> View:
    """Refuse (403) people who may read but not change."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_staff:
            raise PermissionDenied("only staff may add and change feeds")
        return view(request, *args, **kwargs)

    return guarded


@require_safe
def feed_list(request: HttpRequest) -> HttpResponse:
    """All feeds: searched, filtered, sorted, and picked for actions."""
    now = datetime.now(UTC)
    form = FeedFilter(request.GET, now)
    page = page_of(request, form.feeds().select_related("host").defer("fingerprints", "description"))
    feeds: list[Feed] = list(page.object_list)
    return render_list(
        request,
        "feeds/list.html",
        "feeds/_table.html",
        {
            "form": form,
            "page": page,
            "feeds": feeds,
            "sort": form.cleaned_data.get("sort", "title"),
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
    feeds = Feed.objects.select_related("host", "category", "history").defer("fingerprints")
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
            **_habits(feed, now),
        },
    )


@never_cache
@require_safe
def series(request: HttpRequest, pk: int, kind: str) -> JsonResponse:
    """The numbers behind a feed's charts: `training` or `forecast`."""
    kinds = {"training": training_series, "forecast": forecast_series}
    if kind not in kinds:
        raise Http404(f"no series is called {kind}")
    return JsonResponse(kinds[kind](get_object_or_404(Feed.objects.only("id"), pk=pk)))


@staff_only
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """The form that adds feeds, and what became of each address."""
    if request.method != "POST":
        form = AddFeedsForm(initial={"addresses": request.GET.get("url", "")})
        return render(request, "feeds/add.html", {"form": form, "folders": folder_choices()})
    form = AddFeedsForm(request.POST, request.FILES)
    since = datetime.now(UTC) - timedelta(seconds=1)
    outcomes: list[Added] = []
    if form.is_valid():
        try:
            outcomes = _add(form)
        except OpmlError as error:
            form.add_error("opml", f"Nothing was added: {error}")
    if not form.is_valid():
        context = {"form": form, "folders": folder_choices()}
        return render(request, "feeds/add.html", context, status=422)
    return render(request, "feeds/added.html", _outcome_context(outcomes, since))


@never_cache
@require_safe
def added(request: HttpRequest) -> HttpResponse:
    """What first visits have brought: of the feeds `ids`, or counts of all added since `since`."""
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
    """Pause, resume, retrieve now or move the picked feeds, then go back to where they were picked."""
    form = PickedFeedsForm(request.POST)
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure()):
        back = "feeds"
    if not form.is_valid():
        messages.error(request, "Nothing was changed: pick at least one feed and an action.")
        return redirect(back)
    feeds = Feed.objects.filter(id__in=form.cleaned_data["feed"])
    act = ACTIONS[form.cleaned_data["action"]]
    messages.success(request, act(feeds, f"asked for by {request.user}", form.cleaned_data["category"]))
    return redirect(back)


@require_safe
def opml(request: HttpRequest) -> HttpResponse:
    """All feeds as an OPML file."""
    name = f"freshet-{datetime.now(UTC):%Y-%m-%d}.opml"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(export_opml(), "text/x-opml; charset=utf-8", headers=headers)


def _pause(feeds: QuerySet[Feed], because: str, category: str) -> str:
    return f"Paused {_feeds(pause(feeds))}: no visits until resumed."


def _resume(feeds: QuerySet[Feed], because: str, category: str) -> str:
    return f"Resumed {_feeds(resume(feeds))}: the schedule says when each is visited next."


def _retrieve(feeds: QuerySet[Feed], because: str, category: str) -> str:
    asked, selected = feeds.count(), retrieve_now(feeds, because)
    wake_controller()
    left = asked - selected
    rest = f" {_feeds(left)} not: paused, on the way already, or visited moments ago." if left else ""
    return f"{_feeds(selected)} to be retrieved now.{rest}"


def _move(feeds: QuerySet[Feed], because: str, category: str) -> str:
    target = Category.objects.filter(pk=category).first() if category else None
    return f"Moved {_feeds(feeds.update(category=target))} to {target or 'no category'}."


ACTIONS: dict[str, Callable[[QuerySet[Feed], str, str], str]] = {
    "pause": _pause,
    "resume": _resume,
    "retrieve": _retrieve,
    "move": _move,
}


def _feeds(number: int) -> str:
    return f"{number:,} feed" if number == 1 else f"{number:,} feeds"


def _add(form: AddFeedsForm) -> list[Added]:
    """Add what the form names. Raises OpmlError; then nothing was added."""
    category, content = form.chosen_category(), form.cleaned_data["opml"]
    from_file = import_opml(content, category=category).outcomes if content is not None else []
    key = category.pk if category else None
    return [*from_file, *add_feeds([Wanted(line, category=key) for line in form.cleaned_data["addresses"]])]


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


def _sparklines(feeds: list[Feed]) -> dict[int, str]:
    rows = PostingHistory.objects.filter(feed__in=feeds).defer("week_counts", "week_exposure")
    return {row.feed_id: sparkline(_hourly(row), "posting by hour of day, UTC") for row in rows}


def _hourly(history: PostingHistory) -> list[float]:
    """24 rates, articles an hour."""
    return [float(rate) for rate in memoryview(bytes(history.hourly)).cast("f")]


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
    visits = Retrieval.objects.filter(feed=feed, at__gte=now - timedelta(days=30)).order_by()
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
