"""The pages of watched sites: add a site, follow its visits, read changes, inspect its division."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from crawler.web.pages import render_list, wants_part
from crawler.web.pagination import page_of
from crawler.web.permissions import needs, person_of
from crawler.web.roles import EDITOR
from recrawl.charts import WEEKS, calendar, visits_chart
from recrawl.differences import Difference
from recrawl.estimators import gamma_mode
from recrawl.forms import SettingsForm, SiteForm
from recrawl.mapping import SiteError, add_site, check_sites, forget, map_again
from recrawl.models import Change, Check, Site, Visit, WatchedPage
from recrawl.outline import outline
from recrawl.own_report import by_domain, by_method, by_site, chart
from recrawl.visits import pause, resume, visit_now

SHOWN_VISITS, SHOWN_CHANGES, SHOWN_CHECKS = 104, 15, 200
PRIOR_SHAPE, PRIOR_DAYS = 1.5, 60.0
"""The Gamma prior of a page's rate of change. It expects a change in some months."""


@require_safe
def site_list(request: HttpRequest) -> HttpResponse:
    """Show all watched sites, and the form that adds one."""
    return _list_response(request, SiteForm())


@needs(EDITOR)
@require_POST
def add(request: HttpRequest) -> HttpResponse:
    """Watch a site and go to its page. Raises LimitReached for more sites than one person may add."""
    form = SiteForm(request.POST)
    if form.is_valid():
        check_sites(person_of(request))
        fields = dict(form.cleaned_data) | {"added_by": request.user}
        try:
            return redirect(add_site(fields.pop("url"), **fields))
        except SiteError as error:
            form.add_error("url", ValidationError(str(error)))
    return _list_response(request, form, status=422)


@never_cache
@require_safe
def site_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one site: its last visit, charts, calendar, gates and changes."""
    site = _site(pk)
    visits = list(site.visits.filter(number__gt=0).order_by("-number")[:SHOWN_VISITS])
    last = visits[0] if visits else None
    states = dict(site.pages.order_by().values_list("state").annotate(count=Count("id")))
    context: dict[str, Any] = {
        "site": site,
        "mapping": site.visits.filter(number=0).first(),
        "last": last,
        "visits": visits[:12],
        "live": states.get(WatchedPage.State.LIVE, 0),
        "states": [(WatchedPage.State(state).label, state, count) for state, count in sorted(states.items())],
        "changes": site.changes.counting().with_pages().defer("difference").order_by("-id")[:SHOWN_CHANGES],
    }
    if not wants_part(request):
        ended = [visit for visit in reversed(visits) if visit.finished]
        context |= {
            "chart": visits_chart(ended) if ended else None,
            "calendar": _calendar(site) if site.changes.exists() else None,
            "gates": outline(site, last) if site.state != Site.State.MAPPING else [],
            "sources": site.sources.all(),
            "form": SettingsForm(instance=site),
        }
    return render(request, "recrawl/_now.html" if wants_part(request) else "recrawl/site.html", context)


@needs(EDITOR)
@require_POST
def act(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause, resume, visit, map again or delete a site."""
    site, action = _site(pk), request.POST.get("action", "")
    if action == "delete":
        forget(site)
        messages.success(request, f"{site} is watched no more.")
        return redirect("sites")
    messages.success(request, _perform(site, action))
    return redirect(site)


@needs(EDITOR)
@require_POST
def settings(request: HttpRequest, pk: int) -> HttpResponse:
    """Change how a site is visited and which parts do not count."""
    site = _site(pk)
    form = SettingsForm(request.POST, instance=site)
    if not form.is_valid():
        for name, errors in form.errors.items():
            messages.error(request, f"{form[name].label if name in form.fields else ''}: {errors[0]}")
        return redirect(site)
    Site.objects.filter(pk=pk).update(**{name: form.cleaned_data[name] for name in form.fields})
    messages.success(request, "Saved. The next visit goes by it.")
    return redirect(site)


@require_safe
def page_list(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the pages of a site, filtered by state and words, with the outcome of their last fetch."""
    site = _site(pk)
    rows = site.pages.light()
    state, words = request.GET.get("state", ""), request.GET.get("q", "")[:200].replace("\x00", "")
    if state in WatchedPage.State.values:
        rows = rows.filter(state=state)
    if words:
        rows = rows.filter(Q(url__icontains=words) | Q(title__icontains=words))
    order = {"changed": "-changed", "changes": "-changes"}.get(request.GET.get("sort", ""))
    last = Check.objects.filter(page=OuterRef("pk")).order_by("-id")
    rows = rows.annotate(
        last_outcome=Subquery(last.values("outcome")[:1]), last_reason=Subquery(last.values("reason")[:1])
    )
    rows = rows.filter(changes__gt=0).order_by(order, "id") if order else rows.order_by("id")
    context = {
        "site": site,
        "page": page_of(request, rows),
        "states": WatchedPage.State.choices,
        "outcomes": dict(Check.Outcome.choices),
    }
    return render_list(request, "recrawl/pages.html", "recrawl/_pages.html", context)


@require_safe
def page_history(request: HttpRequest, pk: int, page: int) -> HttpResponse:
    """Show one page: its changes, its fetches, its estimated rate of change."""
    site = _site(pk)
    row = get_object_or_404(site.pages.light(), pk=page)
    checks = list(row.all_checks.select_related("visit").order_by("-id")[:SHOWN_CHECKS])
    outcomes = [
        (check.days, check.outcome == Check.Outcome.CHANGED)
        for check in checks
        if check.outcome in {Check.Outcome.SAME, Check.Outcome.MINOR, Check.Outcome.CHANGED}
    ]
    rate = gamma_mode(outcomes, PRIOR_SHAPE, PRIOR_DAYS) if outcomes else None
    context = {
        "site": site,
        "row": row,
        "checks": checks,
        "changes": row.history.order_by("-id")[:SHOWN_CHECKS],
        "every_seconds": 86_400 / rate if rate else None,
    }
    return render(request, "recrawl/page.html", context)


@require_safe
def visit_page(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Show the fetches of a visit with their reasons, in order."""
    site = _site(pk)
    visit = get_object_or_404(Visit, site=site, number=number)
    rows = visit.checks.select_related("page").defer("page__lines", "page__links").order_by("id")
    outcome = request.GET.get("outcome", "")
    if outcome in Check.Outcome.values:
        rows = rows.filter(outcome=outcome)
    context = {
        "site": site, "visit": visit, "page": page_of(request, rows), "outcomes": Check.Outcome.choices,
    }  # fmt: skip
    return render_list(request, "recrawl/visit.html", "recrawl/_checks.html", context)


@require_safe
def change_list(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the changes of a site. Changes that do not count are shown only if their kind is requested."""
    site = _site(pk)
    kind = request.GET.get("kind", "")
    rows = site.changes.filter(kind=kind) if kind in Change.Kind.values else site.changes.counting()
    rows = rows.with_pages().defer("difference").order_by("-id")
    context = {"site": site, "page": page_of(request, rows), "kinds": Change.Kind.choices}
    return render_list(request, "recrawl/changes.html", "recrawl/_changes.html", context)


@require_safe
def change_page(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Show one change, its lines in one column or side by side."""
    site = _site(pk)
    row = get_object_or_404(site.changes.with_pages().select_related("visit"), pk=number)
    history = row.page.history.order_by("id")
    context = {
        "site": site,
        "change": row,
        "difference": Difference.unpacked(bytes(row.difference)),
        "side": request.GET.get("view") == "side",
        "before": history.filter(pk__lt=row.pk).last(),
        "after": history.filter(pk__gt=row.pk).first(),
    }
    return render(request, "recrawl/change.html", context)


@require_safe
def report(request: HttpRequest) -> HttpResponse:
    """Show update rate and coverage of this deployment's own sites, by domain group and method."""
    sums = by_site()
    context = {"rows": by_domain(sums), "totals": by_method(sums), "chart": chart(sums)}
    return render(request, "recrawl/report.html", context)


def _site(pk: int) -> Site:
    return get_object_or_404(Site.objects.light(), pk=pk)


def _calendar(site: Site) -> Any:
    today = datetime.now(UTC).date()
    since = datetime.now(UTC) - timedelta(weeks=WEEKS)
    changes = site.changes.counting().filter(at__gte=since).order_by()
    days = changes.annotate(day=TruncDate("at")).values_list("day").annotate(count=Count("id"))
    counts: Counter[date] = Counter(dict(days))
    return calendar(counts, today)


def _perform(site: Site, action: str) -> str:
    """Perform an action on a site. Returns a message about the result."""
    now = datetime.now(UTC)
    if action == "pause" and pause(site, now):
        return "No more visits are begun."
    if action == "resume" and resume(site):
        return "Visits go on."
    if action == "visit" and visit_now(site, now):
        return "The next visit begins now."
    if action == "map" and map_again(site):
        return "It is mapped anew."
    return f"It is {site.get_state_display()}: nothing was changed."


def _list_response(request: HttpRequest, form: SiteForm, status: int = 200) -> HttpResponse:
    last = Visit.objects.filter(site=OuterRef("pk"), number__gt=0).order_by("-number")
    live = WatchedPage.objects.live().filter(site=OuterRef("pk")).order_by().values("site")
    rows = Site.objects.light().annotate(
        live=Coalesce(Subquery(live.annotate(count=Count("id")).values("count")), 0),
        last_changed=Subquery(last.values("changed")[:1]),
        last_fetched=Subquery(last.values("fetched")[:1]),
        last_found=Subquery(last.values("found")[:1]),
        last_started=Subquery(last.values("started")[:1]),
    )
    page = page_of(request, rows.order_by("id"), size=25)
    response = render_list(request, "recrawl/sites.html", "recrawl/_sites.html", {"form": form, "page": page})
    response.status_code = status
    return response
