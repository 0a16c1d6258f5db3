"""The pages of crawls: begin one, follow it, see its queue and failures, stop and resume it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from crawler.engine.wake import wake_controller
from crawler.frontier.charts import as_csv, charts, courses_chart, lead_chart
from crawler.frontier.crawls import (
    CrawlError,
    begin,
    cancel,
    lead_by,
    may_go_on,
    pause,
    refusal_of,
    requeue,
    rescope,
    resume,
    tried,
)
from crawler.frontier.evaluation.comparison import compare
from crawler.frontier.forms import MAX_PAGES, USUAL_PAGES, CrawlForm, QueryForm, ScopeForm
from crawler.frontier.graph import GraphError
from crawler.frontier.models import MAX_QUERY, Crawl, CrawlUrl
from crawler.frontier.own_graph import crawled_graph
from crawler.frontier.report import report, urls_of
from crawler.frontier.warc import MEDIA_TYPE, warc_chunks
from crawler.frontier.wording import MAX_RECENT, cost, how_far, left_out, names_of, reach
from crawler.web.pages import render_list, wants_part
from crawler.web.pagination import page_of
from crawler.web.permissions import needs
from crawler.web.roles import OPERATOR

HEAD, TROUBLES, SAMPLE = 15, 12, 30
SHARES = (0.25, 0.5, 0.75, 0.9)
TABLES = {
    "I": gettext_lazy("I: pages not crawled, by cause"),
    "II": gettext_lazy("II: errors of HTTP, and others"),
    "III": gettext_lazy("III: errors of HTTP, by status"),
    "IV": gettext_lazy("IV: pages crawled, by country's domain"),
    "V": gettext_lazy("V: pages crawled, by generic domain"),
}
"""The tables of Baker and Akcayol (2017)."""


@require_safe
def crawl_list(request: HttpRequest) -> HttpResponse:
    """List all crawls, with the form that begins one."""
    return _listed(request, CrawlForm())


@needs(OPERATOR)
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Begin a crawl and go to its page."""
    form = CrawlForm(request.POST)
    if "try" in request.POST:
        return _listed(request, form, tried_query=request.POST.get("link_query", "")[:MAX_QUERY])
    if form.is_valid():
        crawl = form.save(commit=False)
        crawl.started_by_id = request.user.pk
        try:
            begin(crawl)
        except CrawlError as error:
            form.add_error("seeds", ValidationError(str(error)))
        else:
            wake_controller()
            return redirect(crawl)
    return _listed(request, form, status=422)


def _pages(text: object) -> int:
    """Return a number of pages that somebody has written, the usual one for what is none."""
    number = int(str(text)) if str(text).isdecimal() and len(str(text)) < 10 else USUAL_PAGES
    return min(max(number, 1), MAX_PAGES)


@require_safe
def cost_of(request: HttpRequest) -> HttpResponse:
    """Say what a crawl of ?max_pages= takes."""
    return HttpResponse(cost(_pages(request.GET.get("max_pages", ""))), content_type="text/plain")


@never_cache
@require_safe
def crawl_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a crawl: how far it is, what it left out, its latest pages; figures and charts for experts."""
    crawl = get_object_or_404(Crawl.objects.select_related("started_by"), pk=pk)
    now, figures_of_now = datetime.now(UTC), report(crawl)
    context: dict[str, Any] = {
        "crawl": crawl,
        "report": figures_of_now,
        "name": names_of([crawl])[crawl.pk],
        "reach": reach(crawl),
        "far": how_far(crawl, figures_of_now, now),
        "left_out": (rows := left_out(figures_of_now)),
        "left_out_sum": sum(row.count for row in rows),
        "latest": crawl.urls.filter(state=CrawlUrl.State.CRAWLED).order_by("-id")[:MAX_RECENT],
        "may_go_on": crawl.state == Crawl.State.PAUSED or may_go_on(crawl, now),
    }
    if wants_part(request):
        return render(request, "frontier/_now.html", context)
    context |= {
        "tables": [(title, figures_of_now.tables[number]) for number, title in TABLES.items()],
        "charts": charts(crawl),
        "head": _head(crawl),
        "failures": _failures(crawl),
        "hosts": _troubled_hosts(crawl),
        "scope": ScopeForm(initial={"scope": crawl.scope}),
        "query": QueryForm(initial={"link_query": crawl.link_query}),
        "lead": (lead := getattr(crawl, "lead", None)),
        "lead_chart": lead_chart(lead.course, crawl.requests) if lead else None,
    }
    return render(request, "frontier/crawl.html", context)


@require_safe
def url_list(request: HttpRequest, pk: int) -> HttpResponse:
    """List the URLs of a crawl, filtered by state, failure and host."""
    crawl = get_object_or_404(Crawl, pk=pk)
    context = {
        "crawl": crawl,
        "page": page_of(request, urls_of(crawl, request.GET)),
        "states": CrawlUrl.State.choices,
    }
    return render_list(request, "frontier/urls.html", "frontier/_urls.html", context)


@require_safe
def strategies(request: HttpRequest, pk: int) -> HttpResponse:
    """Compare every strategy on the links that the crawl has recorded."""
    crawl = get_object_or_404(Crawl, pk=pk)
    context: dict[str, Any] = {"crawl": crawl}
    try:
        graph = crawled_graph(crawl)
    except GraphError as error:
        context["trouble"] = str(error)
    else:
        courses = compare(graph)
        rows = [(course, [course.pages_for(share) for share in SHARES]) for course in courses]
        context |= {"graph": graph, "rows": rows, "shares": SHARES, "chart": courses_chart(courses)}
    return render(request, "frontier/strategies.html", context)


@require_safe
def warc(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Stream the crawl's requests and answers as a WARC file."""
    crawl = get_object_or_404(Crawl, pk=pk)
    headers = {"Content-Disposition": f'attachment; filename="crawl-{pk}.warc.gz"'}
    return StreamingHttpResponse(warc_chunks(crawl), content_type=MEDIA_TYPE, headers=headers)


@require_safe
def figures(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Stream the crawl's figures by minute as a table."""
    crawl = get_object_or_404(Crawl, pk=pk)
    headers = {"Content-Disposition": f'attachment; filename="crawl-{pk}.csv"'}
    return StreamingHttpResponse(as_csv(crawl), content_type="text/csv; charset=utf-8", headers=headers)


@needs(OPERATOR)
@require_POST
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop, resume, cancel or delete a crawl, queue failures again, or change its scope."""
    crawl = get_object_or_404(Crawl, pk=pk)
    action = request.POST.get("action", "")
    if action == "delete":
        cancel(Crawl.objects.filter(pk=pk))
        crawl.delete()
        messages.success(request, _("Crawl %(pk)s was deleted.") % {"pk": pk})
        return redirect("crawls")
    if action == "try-query":
        query = request.POST.get("link_query", "")[:MAX_QUERY]
        context = {"crawl": crawl, "query": QueryForm(initial={"link_query": query})}
        return render(request, "frontier/query.html", context | _trial(query))
    messages.success(request, _changed(crawl, action, request))
    wake_controller()
    return redirect(crawl)


def _changed(crawl: Crawl, action: str, request: HttpRequest) -> str:
    """Apply the action. Returns a message with its result."""
    change = {"requeue": _requeued, "scope": _rescoped, "query": _led}.get(action)
    if change is not None:
        return change(crawl, request)
    row = Crawl.objects.filter(pk=crawl.pk)
    if action == "stop" and pause(row):
        return _("It hands out no more; what is out comes back.")
    if action == "resume" and resume(crawl):
        return _("It goes on.")
    if action == "cancel" and cancel(row):
        return _("It was cancelled.")
    return _("It is %(state)s: nothing was changed.") % {"state": crawl.get_state_display()}


def _requeued(crawl: Crawl, request: HttpRequest) -> str:
    failure, host = request.POST.get("failure", ""), request.POST.get("host", "")
    number = int(host) if host.isdecimal() and len(host) < 19 else None
    count = requeue(crawl, [failure] if failure else [], number)
    return ngettext("%(count)d URL queued again.", "%(count)d URLs queued again.", count) % {"count": count}


def _led(crawl: Crawl, request: HttpRequest) -> str:
    """Keep another query, unless it is none. Returns a message with the result."""
    form = QueryForm(request.POST)
    query = form.cleaned_data["link_query"] if form.is_valid() else ""
    why = form.errors["link_query"][0] if form.errors else refusal_of(query)
    if why:
        return _("The query stays as it was: %(reason)s") % {"reason": why}
    lead_by(crawl, query)
    return _("The crawl follows what this query names from now on.") if query else _("The query is gone.")


def _rescoped(crawl: Crawl, request: HttpRequest) -> str:
    form = ScopeForm(request.POST)
    if not form.is_valid():
        return _("The scope stays as it was: %(errors)s") % {"errors": form.errors["scope"][0]}
    count = rescope(crawl, form.cleaned_data["scope"])
    return ngettext(
        "The scope was changed; %(count)d URL left the queue.",
        "The scope was changed; %(count)d URLs left the queue.",
        count,
    ) % {"count": count}


def _trial(query: str) -> dict[str, Any]:
    """Return what a query names over what is stored, for the page."""
    addresses, why = tried(query)
    return {"trial": {"count": len(addresses), "sample": list(addresses.items())[:SAMPLE], "trouble": why}}


def _listed(
    request: HttpRequest, form: CrawlForm, status: int = 200, tried_query: str | None = None
) -> HttpResponse:
    page = page_of(request, Crawl.objects.select_related("started_by").order_by("-id"), size=25)
    names = names_of(list(page.object_list))
    context = {
        "form": form,
        "page": page,
        "rows": [(crawl, names[crawl.pk]) for crawl in page.object_list],
        "cost": cost(_pages(form["max_pages"].value())),
    } | ({} if tried_query is None else _trial(tried_query))
    response = render_list(request, "frontier/crawls.html", "frontier/_crawls.html", context)
    response.status_code = status
    return response


def _head(crawl: Crawl) -> list[CrawlUrl]:
    """Return the URLs that would go out first if all hosts were idle."""
    hosts = crawl.hosts.filter(best__isnull=False).order_by("-best", "head").values_list("head", flat=True)
    return list(crawl.waiting.filter(id__in=list(hosts[:HEAD])).order_by("attempts", "-score", "id"))


def _failures(crawl: Crawl) -> list[Any]:
    failed = crawl.urls.filter(state=CrawlUrl.State.FAILED).order_by().values("failure")
    return list(failed.annotate(count=Count("id")).order_by("-count", "failure")[:TROUBLES])


def _troubled_hosts(crawl: Crawl) -> list[Any]:
    failed = crawl.urls.filter(state=CrawlUrl.State.FAILED).order_by().values("host", "host__name")
    return list(failed.annotate(count=Count("id")).order_by("-count", "host__name")[:TROUBLES])
