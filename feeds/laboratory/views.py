"""Pages of the policy laboratory: starting, following and reading experiments."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crawler.web.pages import render_list, wants_part
from crawler.web.pagination import page_of
from crawler.web.permissions import needs
from crawler.web.roles import OPERATOR
from feeds.laboratory.experiments import begin, stop
from feeds.laboratory.forms import ExperimentForm
from feeds.laboratory.models import Experiment
from feeds.laboratory.results import budgets_for, charts, curve, hours, rows
from feeds.replay.trace import TraceError


@require_safe
def laboratory(request: HttpRequest) -> HttpResponse:
    """Show the laboratory: its purpose, the form, and all experiments."""
    return _listed(request, ExperimentForm())


@needs(OPERATOR)
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Start an experiment and go to its page."""
    form = ExperimentForm(request.POST, request.FILES)
    if form.is_valid():
        experiment = form.save(commit=False)
        experiment.started_by_id = request.user.pk
        try:
            return redirect(begin(experiment, form.trace))
        except TraceError as error:
            form.add_error(None, ValidationError(str(error)))
    return _listed(request, form, status=422)


@never_cache
@require_safe
def experiment(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an experiment's progress and results; with `delay`, also the budgets for that mean delay."""
    row = get_object_or_404(Experiment.objects.lean().select_related("started_by"), pk=pk)
    outcomes, remaining = row.outcomes, row.remaining()
    chosen = _minutes(request.GET.get("delay", ""))
    context: dict[str, Any] = {
        "experiment": row,
        "rows": rows(row, outcomes),
        "charts": charts(row, outcomes),
        "hours": hours(row, outcomes),
        "curves": [(name, curve(outcomes, name)) for name in row.policies],
        "done": len(outcomes),
        "planned": len(row.planned()),
        "next": remaining[0] if remaining else None,
        "failed": [each for each in outcomes if each.error],
        "delay": chosen,
        "budgets": budgets_for(row, outcomes, chosen) if chosen else [],
    }
    part = "laboratory/_results.html" if wants_part(request) else "laboratory/experiment.html"
    return render(request, part, context)


@needs(OPERATOR)
@require_http_methods(["POST"])
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop an experiment, or delete it."""
    row = get_object_or_404(Experiment.objects.lean(), pk=pk)
    if request.POST.get("action") == "delete":
        row.delete()
        messages.success(request, _("Experiment %(pk)s was deleted.") % {"pk": pk})
        return redirect("laboratory")
    if not stop(row):
        messages.info(request, _("It had ended already."))
    return redirect(row)


def _listed(request: HttpRequest, form: ExperimentForm, status: int = 200) -> HttpResponse:
    rows_of_page = Experiment.objects.lean().select_related("started_by").order_by("-id")
    page = page_of(request, rows_of_page, size=25)
    context = {"form": form, "page": page}
    response = render_list(request, "laboratory/laboratory.html", "laboratory/_list.html", context)
    response.status_code = status
    return response


def _minutes(text: str) -> float | None:
    """Parse a delay above zero. Returns None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < 1e6 else None
