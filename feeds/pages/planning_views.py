"""The rules of planning as people see them: a page and the API, and a trial on the deployment's own posts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from crawler.engine.ticking import tick_seconds
from crawler.web.forms import RowForm
from crawler.web.permissions import OperatorWrites, needs
from crawler.web.roles import OPERATOR
from feeds.laboratory.experiments import begin
from feeds.laboratory.models import Experiment
from feeds.models import Feed, PlanningRules
from feeds.replay.trace import TraceError
from feeds.visiting.delays import latest_feeds
from feeds.visiting.rules import VisitRules, in_force, rules, stored_rules

SHOWN_TRIALS = 8
_DAY = 86_400


class RulesForm(RowForm):
    """The form of the rules. A field left empty goes by the settings, which its placeholder shows."""

    class Meta:
        model = PlanningRules
        fields = ["policy", "budget", "audience_weight", "active_only", "training_max_ticks"]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        defaults = in_force(PlanningRules())
        for name in ("budget", "audience_weight", "training_max_ticks"):
            self.fields[name].widget.attrs["placeholder"] = f"{getattr(defaults, name):g}"
        settings_say = _("as the settings say (%(policy)s)") % {"policy": _policy_name(defaults.policy)}
        self.fields["policy"].choices = [("", settings_say), *PlanningRules.Policy.choices]  # type: ignore[attr-defined]


def _policy_name(policy: str) -> str:
    """Return a policy's name for people."""
    return str(dict(PlanningRules.Policy.choices).get(policy, policy))


@never_cache
@needs(OPERATOR)
@require_http_methods(["GET", "HEAD", "POST"])
def planning(request: HttpRequest) -> HttpResponse:
    """Show the rules in force and what they come to; keep others, or try them on what feeds have posted."""
    form = RulesForm(request.POST or None, instance=stored_rules())
    if request.method == "POST" and form.is_valid():
        if "try" not in request.POST:
            form.save()
            messages.success(request, _("Saved. This holds from the next round of visits."))
            return redirect("planning")
        try:
            trial(in_force(form.instance), rules(), request.user.pk)
        except TraceError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The trial has begun: its result will stand below."))
            return redirect(f"{request.path}?{_as_query(form)}#trials")
    initial = {name: request.GET.get(name, "")[:40] for name in form.fields if name in request.GET}
    if initial and request.method != "POST":
        form = RulesForm(instance=stored_rules(), initial=initial)
    chosen = rules()
    active = Feed.objects.active().count()
    context = {
        "form": form,
        "rules": chosen,
        "policy": _policy_name(chosen.policy),
        "minutes": tick_seconds() / 60,
        "feeds": active,
        "a_day": chosen.budget * active * 24,
        "trials": _trials(),
        "latest": latest_feeds(datetime.now(UTC) - timedelta(days=1)),
        "is_running": Experiment.objects.open().filter(source=Experiment.Source.HISTORY).exists(),
    }
    return render(request, "feeds/planning.html", context, status=422 if form.errors else 200)


def trial(new_rules: VisitRules, current_rules: VisitRules, person: int | None) -> None:
    """Begin replays of the deployment's own posts: with other rules, and with those in force beside them.

    Raises TraceError if nothing was recorded yet.
    """
    for chosen in dict.fromkeys(replace(each, training_max_ticks=0) for each in (current_rules, new_rules)):
        _begin(chosen, person)


def _begin(chosen: VisitRules, person: int | None) -> None:
    begin(
        Experiment(
            source=Experiment.Source.HISTORY,
            policies=[chosen.policy],
            budget=chosen.budget,
            curve=False,
            tick=int(min(max(tick_seconds(), 60), _DAY)),
            audience=True,
            audience_weight=chosen.audience_weight,
            started_by_id=person,
        ),
        active_only=chosen.active_only,
    )


def _trials() -> list[dict[str, Any]]:
    """Return the newest replays of the deployment's own posts, each with its mean delay and visits a day."""
    experiments = Experiment.objects.lean().filter(source=Experiment.Source.HISTORY)
    newest = experiments.exclude(result__outcomes=[]).order_by("-id")[:SHOWN_TRIALS]
    outcomes = [(row, outcome) for row in newest for outcome in reversed(row.outcomes)]
    trial_rows = []
    for row, outcome in outcomes[:SHOWN_TRIALS]:
        metrics = outcome.metrics or {}
        days = max((row.days or 0) - row.learned_days(), 1e-9)
        trial_rows.append(
            {
                "experiment": row,
                "policy": _policy_name(outcome.policy),
                "budget": outcome.budget,
                "weight": row.audience_weight,
                "delay": metrics.get("delay_mean"),
                "worst": metrics.get("delay_p95"),
                "a_day": metrics["retrievals"] / days if metrics else None,
                "error": outcome.error,
            }
        )
    return trial_rows


def _as_query(form: RulesForm) -> str:
    """Return the values of a form for an address, so that they still stand in it after a trial has begun."""
    return urlencode({name: form.data.get(name, "") for name in form.fields})


class RulesSerializer(serializers.ModelSerializer[PlanningRules]):
    """The rules of planning: what was chosen (null or "": as the settings say), and what is in force."""

    in_force = serializers.SerializerMethodField(help_text="The rules that the next tick goes by.")

    class Meta:
        model = PlanningRules
        fields = ["policy", "budget", "audience_weight", "active_only", "training_max_ticks", "in_force"]

    def get_in_force(self, row: PlanningRules) -> dict[str, Any]:
        chosen = in_force(row)
        return {name: getattr(chosen, name) for name in chosen.__slots__}


class RulesView(APIView):
    """The rules of planning."""

    permission_classes = [OperatorWrites]

    @extend_schema(summary="How visits are planned", responses=RulesSerializer)
    def get(self, request: Request) -> Response:
        """Return the rules."""
        return Response(RulesSerializer(stored_rules()).data)

    @extend_schema(summary="Plan visits otherwise", request=RulesSerializer, responses=RulesSerializer)
    def patch(self, request: Request) -> Response:
        """Change some of the rules; they hold from the next tick on."""
        serializer = RulesSerializer(stored_rules(), data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data)
