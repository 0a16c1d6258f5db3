"""The pages of watched sites: add a site, follow its visits, read changes, inspect its division."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, TruncDate
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crawler.frontier.warc import MEDIA_TYPE
from crawler.reading.inflate import inflated
from crawler.web.pages import render_list, wants_part
from crawler.web.pagination import page_of
from crawler.web.permissions import needs, person_of
from crawler.web.roles import EDITOR
from recrawl.changes.describing import diff_rows, sentence
from recrawl.changes.inbox_views import ChangeList, change_rows
from recrawl.changes.seen import marks_of, newest_change, unseen_changes
from recrawl.changes.site_sentences import (
    is_nightly,
    look_words,
    report_sentence,
    site_sentence,
    sites_sentence,
    visit_words,
    week_sentence,
)
from recrawl.changes.versions import version_at, version_count, warc_chunks
from recrawl.comparing.differences import Difference, difference
from recrawl.evaluation.own_report import by_domain, by_method, by_site, chart
from recrawl.models import LONG_COLUMNS, SETTINGS, Change, Check, Site, Visit, WatchedPage
from recrawl.pages.charts import WEEKS, calendar, visits_chart
from recrawl.pages.forms import WatchForm, settings_form
from recrawl.pages.method_sentences import SENTENCES
from recrawl.pages.page_views import only_page
from recrawl.pages.telling import telling_wanted
from recrawl.pages.watch_parts import watch_context
from recrawl.visiting.mapping import (
    SiteError,
    add_pages,
    add_site,
    check_sites,
    checked_addresses,
    forget,
    keep_logins,
    map_again,
    set_pages,
)
from recrawl.visiting.outline import outline
from recrawl.visiting.visits import pause, resume, visit_now

MAX_PICTURE_BYTES = 32 * 1024 * 1024
SHOWN_VISITS, SHOWN_CHANGES, SHOWN_PAGES = 104, 8, 6
SHOWN_LINES, SHOWN_ROWS = 6, 12
"""Visits in sentences, and in the table for experts."""
MAX_STAMPS, MAX_TITLE = 200, 500


@require_safe
def site_list(request: HttpRequest) -> HttpResponse:
    """Show all watched sites and lists."""
    return _list_response(request)


@needs(EDITOR)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """Show the form for a new watch, or begin it and go to its page.

    `url` in the query is a page whose parts are shown; each `part` is a selector of a picked one. With
    `picture` a browser shows the page. Raises LimitReached for more than one person may add.
    """
    if request.method != "POST":
        return _new_watch(request)
    form = WatchForm(request.POST)
    if form.is_valid():
        check_sites(person_of(request))
        fields = {name: form.cleaned_data[name] for name in SETTINGS} | {"added_by": request.user}
        addresses = form.cleaned_data["url"]
        try:
            if not form.is_list:
                return redirect(add_site(addresses[0], **fields))
            site = add_pages(addresses, **fields)
        except SiteError as error:
            form.add_error("url", ValidationError(str(error)))
        else:
            if form.wish.is_wish and (row := only_page(site)):
                telling_wanted.send(Site, user=request.user, page=row, wish=form.wish)
            return redirect(site)
    address = form.data.get("url", "").strip()
    is_page = form.is_list and address and "\n" not in address
    context = watch_context(address, request.POST.getlist("part")) if is_page else {}
    template = "recrawl/watch.html" if is_page else "recrawl/add.html"
    return render(request, template, {"form": form, "address": address, **context}, status=422)


def _new_watch(request: HttpRequest) -> HttpResponse:
    """Show the form of a page at an address, or the one that asks for an address."""
    url = request.GET.get("url", "").replace("\x00", "").strip()[:2000]
    is_page = bool(url) and request.GET.get("kind", "pages") == "pages"
    parts = [part.strip()[:500] for part in request.GET.getlist("part")[:20]]
    initial: dict[str, Any] = {"url": [url] if url else [], "kind": "pages" if is_page else "site"}
    if not is_page:
        initial["parts"] = list(filter(None, parts))
        return render(request, "recrawl/add.html", {"form": WatchForm(initial=initial)})
    context = watch_context(url, parts, with_picture=request.GET.get("picture") == "1")
    initial |= {"parts": context["written"], "browser": context["needs_browser"]}
    form = WatchForm(initial=initial)
    return render(request, "recrawl/watch.html", {"form": form, "address": url, **context})


@never_cache
@require_safe
def site_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one site: what changed lately, its pages, how it is set, its visits and its figures.

    A list of one page leads to that page, unless it is asked for with `as=list`.
    """
    site = _site(pk)
    if not wants_part(request) and request.GET.get("as") != "list" and (page := only_page(site)):
        return redirect(page)
    context = _lately(request, site)
    if wants_part(request):
        return render(request, "recrawl/_now.html", context)
    ended = [visit for visit in reversed(context["visits"]) if visit.finished]
    context |= {
        "how": SENTENCES[site.method],
        "mapping": site.visits.filter(number=0).first(),
        "visit_lines": [(visit, visit_words(visit)) for visit in context["visits"][:SHOWN_LINES]],
        "visits": context["visits"][:SHOWN_ROWS],
        "chart": visits_chart(ended) if ended else None,
        "calendar": _calendar(site) if site.changes.exists() else None,
        "gates": outline(site, context["last"]) if site.state != Site.State.MAPPING else [],
        "sources": site.sources.all(),
        "form": settings_form(site),
        "is_editing": request.GET.get("edit") == "1",
    }
    return render(request, "recrawl/site.html", context)


def _lately(request: HttpRequest, site: Site) -> dict[str, Any]:
    """Return what changed on a site of late, its pages, and the sentences above them."""
    now = datetime.now(UTC)
    visits = list(site.visits.filter(number__gt=0).order_by("-number")[:SHOWN_VISITS])
    last = visits[0] if visits else None
    counts = dict(site.pages.order_by().values_list("state").annotate(count=Count("id")))
    live = counts.get(WatchedPage.State.LIVE, 0)
    marks = marks_of(person_of(request))
    chosen = ChangeList("all", site.pk)
    changes = list(chosen.changes(marks).with_pages().select_related("site")[:SHOWN_CHANGES])
    stamped = site.pages.exclude(last_modified="").order_by(F("changed").desc(nulls_last=True), "id")
    stamps = stamped.values_list("last_modified", "fetched")[:MAX_STAMPS]
    week = site.changes.counting().filter(at__gte=now - timedelta(days=7)).order_by()
    pages = week.values("page").distinct().count()
    order = (F("changed").desc(nulls_last=True), "id")
    return {
        "site": site,
        "newest": newest_change(),
        "sentence": site_sentence(site, sum(counts.values()), now, is_nightly=is_nightly(stamps)),
        "week": week_sentence(pages, is_first_week=last is None) if site.state != Site.State.MAPPING else "",
        "look": look_words(site, now, last),
        "is_open": site.state == Site.State.MAPPING or bool(last and not last.finished),
        "last": last,
        "visits": visits,
        "live": live,
        "failed": counts.get(WatchedPage.State.FAILED, 0),
        "gone": counts.get(WatchedPage.State.GONE, 0),
        "states": [(WatchedPage.State(state).label, state, count) for state, count in sorted(counts.items())],
        "rows": change_rows(changes, marks),
        "unseen": unseen_changes(marks).filter(site=site).count(),
        "list": chosen,
        "pages": site.pages.light().exclude(state=WatchedPage.State.GONE).order_by(*order)[:SHOWN_PAGES],
    }


@needs(EDITOR)
@require_POST
def act(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause, resume, visit, map again or delete a site."""
    site, action = _site(pk), request.POST.get("action", "")
    if action == "delete":
        forget(site)
        messages.success(request, _("%(site)s is watched no more.") % {"site": site})
        return redirect("watched")
    messages.success(request, _perform(site, action))
    return redirect(site)


@needs(EDITOR)
@require_POST
def settings(request: HttpRequest, pk: int) -> HttpResponse:
    """Change how a site is visited and which parts do not count."""
    site = _site(pk)
    form = settings_form(site, request.POST)
    if not form.is_valid():
        for name, errors in form.errors.items():
            messages.error(request, f"{form[name].label if name in form.fields else ''}: {errors[0]}")
        return redirect(site)
    changed = {name: form.cleaned_data[name] for name in SETTINGS}
    if title := request.POST.get("title", "").replace("\x00", "").strip()[:MAX_TITLE]:
        changed["title"] = title
    Site.objects.filter(pk=pk).update(**changed)
    if "pages" in form.cleaned_data:
        keep_logins(form.cleaned_data["pages"])
        set_pages(site, checked_addresses(form.cleaned_data["pages"]))
    messages.success(request, _("Saved. Freshet goes by it from the next look on."))
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
def page_versions(request: HttpRequest, pk: int, page: int) -> HttpResponse:
    """Show a version of a page, the last one unless another is asked for, and how it differs from the one
    before.
    """
    site = _site(pk)
    row = get_object_or_404(site.pages, pk=page)
    total = version_count(row)
    text = request.GET.get("version", "")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else total
    version, before = version_at(row, number), version_at(row, number - 1)
    hunks = diff_rows(difference(before.texts, version.texts)) if version and before else []
    context = {
        "site": site, "row": row, "version": version, "number": number, "total": total, "hunks": hunks,
    }  # fmt: skip
    return render(request, "recrawl/versions.html", context, status=200 if version else 404)


@require_safe
def page_warc(request: HttpRequest, pk: int, page: int) -> StreamingHttpResponse:
    """Return all versions of a page as a WARC file."""
    row = get_object_or_404(_site(pk).pages.select_related("body"), pk=page)
    response = StreamingHttpResponse(warc_chunks(row), content_type=MEDIA_TYPE)
    response.headers["Content-Disposition"] = f'attachment; filename="page-{row.pk}.warc.gz"'
    return response


@require_safe
def page_picture(request: HttpRequest, pk: int, page: int, version: int | None = None) -> HttpResponse:
    """Return the screenshot of a page, or of one of its versions by primary key."""
    row = get_object_or_404(_site(pk).pages.light().select_related("picture"), pk=page)
    if version is None:
        picture = row.picture
    else:
        picture = get_object_or_404(row.versions.select_related("picture"), pk=version).picture
    if picture is None:
        raise Http404("there is no picture")
    content = inflated(bytes(picture.content), MAX_PICTURE_BYTES)
    response = HttpResponse(content, content_type="image/webp")
    response.headers["Cache-Control"] = "private, max-age=3600"
    return response


@require_safe
def visit_page(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Show the fetches of a visit with their reasons, in order."""
    site = _site(pk)
    visit = get_object_or_404(Visit, site=site, number=number)
    rows = (
        visit.checks.select_related("page").defer(*(f"page__{name}" for name in LONG_COLUMNS)).order_by("id")
    )
    outcome = request.GET.get("outcome", "")
    if outcome in Check.Outcome.values:
        rows = rows.filter(outcome=outcome)
    context = {
        "site": site,
        "visit": visit,
        "words": visit_words(visit),
        "page": page_of(request, rows),
        "outcomes": Check.Outcome.choices,
    }
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
    gain = Difference.unpacked(bytes(row.difference))
    context = {
        "site": site,
        "change": row,
        "words": sentence(row, gain),
        "difference": gain,
        "side": request.GET.get("view") == "side",
        "before": history.filter(pk__lt=row.pk).last(),
        "after": history.filter(pk__gt=row.pk).first(),
    }
    return render(request, "recrawl/change.html", context)


@require_safe
def report(request: HttpRequest) -> HttpResponse:
    """Show update rate and coverage of this deployment's own sites, by domain group and method."""
    sums = by_site()
    context = {
        "rows": by_domain(sums),
        "totals": by_method(sums),
        "chart": chart(sums),
        "sentence": report_sentence(sums),
    }
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
        return _("It is paused: Freshet does not look.")
    if action == "resume" and resume(site):
        return _("Freshet looks at it again.")
    if action == "visit" and visit_now(site, now):
        return _("Freshet looks at it in a moment.")
    if action == "map" and map_again(site):
        return _("Freshet looks for its pages again.")
    return _("Nothing was changed: %(state)s") % {"state": site_sentence(site, 0, now)}


def _list_response(request: HttpRequest) -> HttpResponse:
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
    since = datetime.now(UTC) - timedelta(days=7)
    week = Change.objects.counting().filter(at__gte=since).order_by().values("page").distinct().count()
    context = {"page": page, "sentence": sites_sentence(page.paginator.count, week)}
    return render_list(request, "recrawl/sites.html", "recrawl/_sites.html", context)
