"""The pages of the pipeline and of its graph."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Count, F, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from crawler.engine.wake import wake_controller
from crawler.pipeline.charts import progress, progress_chart
from crawler.pipeline.documents import queues, resend
from crawler.pipeline.extract import Extracted, extracted
from crawler.pipeline.forms import FilterForm
from crawler.pipeline.index import context_of
from crawler.pipeline.models import (
    Document,
    LinkQuery,
    PhaseFigure,
    UriFilter,
)
from crawler.pipeline.report import phases
from crawler.pipeline.wording import cause_words, pace, state_sentence
from crawler.web.pages import render_list, wants_part
from crawler.web.pagination import page_of
from crawler.web.permissions import needs
from crawler.web.roles import OPERATOR

JSON_RESULTS, TURTLE = "application/sparql-results+json", "text/turtle"
DRY_DOCUMENTS, MAX_SHOWN = 200, 500
HOUR = timedelta(hours=1)
MAX_KEPT = 6_000
"""Characters of a query that is shown again after it could not be saved: it stands in the address."""


@never_cache
@require_safe
def pipeline_page(request: HttpRequest) -> HttpResponse:
    """Say how the reading of texts goes and what could not be read; figures of phases for experts."""
    now = datetime.now(UTC)
    dead = Document.objects.filter(state=Document.State.DEAD).order_by().values("failed_phase", "failure")
    rows = list(dead.annotate(count=Count("id")).order_by("-count"))
    documents, waiting = Document.objects.count(), queues()
    behind = sum(waiting.get(phase, 0) for phase in ("detect", "transform", "index"))
    context: dict[str, Any] = {
        "sentence": state_sentence(documents, behind, sum(row["count"] for row in rows), pace(now)),
        "dead": [row | {"words": cause_words(row["failure"])} for row in rows],
        "documents": documents,
    }
    if wants_part(request) and "figures" not in request.GET:
        return render(request, "pipeline/_now.html", context)
    recent = PhaseFigure.objects.filter(minute__gte=now - HOUR)
    workers = recent.values("phase", "worker").annotate(
        done=Sum("documents"), failed=Sum("failures"), took=Sum("seconds")
    )
    context |= {
        "phases": phases(),
        "workers": workers.filter(took__gt=0)
        .annotate(pace=F("done") / F("took"))
        .order_by("phase", "worker"),
        "progress": progress_chart(progress(now)),
    }
    part = "pipeline/_phases.html" if wants_part(request) else "pipeline/pipeline.html"
    return render(request, part, context)


@require_safe
def document_list(request: HttpRequest) -> HttpResponse:
    """Show documents by state, type and cause."""
    documents = Document.objects.defer("triples").order_by("-id")
    for name in ("state", "type", "failed_phase", "failure", "source"):
        if request.GET.get(name):
            documents = documents.filter(**{name: request.GET[name]})
    context = {"page": page_of(request, documents), "states": Document.State.choices}
    return render_list(request, "pipeline/documents.html", "pipeline/_documents.html", context)


@needs(OPERATOR)
@require_POST
def send_again(request: HttpRequest) -> HttpResponse:
    """Send dead letters through again, of one cause or all."""
    dead = Document.objects.all()
    for name in ("failed_phase", "failure"):
        if request.POST.get(name):
            dead = dead.filter(**{name: request.POST[name]})
    messages.success(request, _("%(dead)s sent again.") % {"dead": resend(dead)})
    wake_controller()
    return redirect("pipeline")


@require_safe
def links(request: HttpRequest) -> HttpResponse:
    """Show the queries and filters of extract; with ?dry= also what they would find now."""
    return _links(request, FilterForm())


@needs(OPERATOR)
@require_POST
def change_links(request: HttpRequest) -> HttpResponse:
    """Switch a query or a filter on or off, add a filter, or delete one."""
    action, key = request.POST.get("action", ""), request.POST.get("id", "")
    number = int(key) if key.isdecimal() and len(key) < 10 else 0
    if action == "add":
        form = FilterForm(request.POST)
        if not form.is_valid():
            return _links(request, form, status=422)
        UriFilter.objects.create(
            pattern=form.cleaned_data["pattern"],
            allow=form.cleaned_data["allow"],
            position=UriFilter.objects.count(),
        )
    elif action == "switch-query":
        _switch(get_object_or_404(LinkQuery, pk=number))
    elif action == "switch-filter":
        _switch(get_object_or_404(UriFilter, pk=number))
    elif action == "delete-filter":
        UriFilter.objects.filter(pk=number).delete()
    return redirect("pipeline-links")


def _switch(rule: LinkQuery | UriFilter) -> None:
    rule.enabled = not rule.enabled
    rule.save(update_fields=["enabled"])


def _links(request: HttpRequest, form: FilterForm, status: int = 200) -> HttpResponse:
    queries, filters = list(LinkQuery.objects.all()), list(UriFilter.objects.all())
    context: dict[str, Any] = {"queries": queries, "filters": filters, "form": form}
    if request.GET.get("dry"):
        context |= _dry_run(queries, filters)
    return render(request, "pipeline/links.html", context, status=status)


def _dry_run(queries: list[LinkQuery], filters: list[UriFilter]) -> dict[str, Any]:
    """Extract addresses from the newest documents by the enabled rules, without queueing any."""
    newest = list(Document.objects.filter(state=Document.State.DONE).order_by("-changed")[:DRY_DOCUMENTS])
    result: Extracted = extracted(
        {row.pk: context_of(row).key() for row in newest},
        [row for row in queries if row.enabled],
        [row for row in filters if row.enabled],
    )
    weights: dict[str, float] = {}
    for urls in result.found.values():
        for url, weight in urls.items():
            weights[url] = max(weight, weights.get(url, 0.0))
    best = sorted(weights.items(), key=lambda row: (-row[1], row[0]))
    return {
        "dry": len(newest),
        "found": len(weights),
        "denied": result.denied,
        "sample": best[:50],
        "query_hits": result.queries,
        "filter_hits": result.filters,
    }
