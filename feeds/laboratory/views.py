"""Pages of the policy laboratory: starting, following and reading experiments."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crawler import environment
from crawler.web import undo
from crawler.web.pages import render_list, wants_part
from crawler.web.pagination import page_of
from crawler.web.permissions import needs
from crawler.web.roles import OPERATOR, is_at_least
from feeds.laboratory.answer import CHOICES, lab_answer
from feeds.laboratory.doubling import ask, is_asked, newest_answer
from feeds.laboratory.experiments import begin, stop
from feeds.laboratory.forms import ExperimentForm
from feeds.laboratory.models import Experiment
from feeds.laboratory.results import budgets_for, charts, curve, hours, rows
from feeds.models import Feed
from feeds.replay.trace import TraceError
from feeds.visiting.rules import rules, stored_rules


@never_cache
@require_safe
def laboratory(request: HttpRequest) -> HttpResponse:
    """Show what other numbers of requests and other orders would bring to this deployment's own feeds.

    Who may operate has it measured by opening the page, at most once a day.
    """
    now, chosen = datetime.now(UTC), rules()
    if is_at_least(request.user, OPERATOR) and not settings.DEMO:
        ask(now, request.user.pk)
    factor = request.GET.get("requests", "2")
    factor = factor if factor in CHOICES else "2"
    experiment = newest_answer(chosen)
    report = lab_answer(experiment, chosen.policy, float(factor)) if experiment else None
    feeds = Feed.objects.active().fetched().count()
    context = {
        "answer": report if report and report.cards else None,
        "is_running": is_asked(now),
        "choices": CHOICES.items(),
        "factor": factor,
        "a_day": round(chosen.budget * feeds * 24),
        "wanted": round(chosen.budget * feeds * 24 * float(factor)),
        "is_fixed": environment.is_given("FEED_BUDGET"),
    }
    return render(request, "laboratory/answer.html", context)


@needs(OPERATOR)
@require_POST
def set_budget(request: HttpRequest) -> HttpResponse:
    """Set so many times the present requests, and offer to undo it."""
    factor, row = request.POST.get("requests", ""), stored_rules()
    if factor not in CHOICES or environment.is_given("FEED_BUDGET"):
        raise Http404("the number of requests cannot be set so here")
    before, row.budget = row.budget, min(max(rules().budget * float(factor), 0.001), 60)
    row.save()
    undo.offer(request, _("Set. It holds from the next round of visits."), "laboratory-budget", before)
    return redirect("settings-budget")


@undo.register("laboratory-budget")
def _former_budget(user: User, before: Any) -> str:
    row = stored_rules()
    if is_at_least(user, OPERATOR):
        row.budget = before
        row.save()
    return _("It is set as before.")


@require_safe
def full(request: HttpRequest) -> HttpResponse:
    """Show the full laboratory: the form of an experiment, and all experiments."""
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
        return redirect("laboratory-full")
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
