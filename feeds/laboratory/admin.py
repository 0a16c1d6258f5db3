"""Experiments in the admin, to read, stop and delete; the laboratory's page starts them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from crawler.web.admin import RecordAdmin, RowsInline
from feeds.laboratory.experiments import stop
from feeds.laboratory.models import Experiment, Outcome


class OutcomesInline(RowsInline):
    """The outcomes of an experiment, policy by policy."""

    model = Outcome
    fields = readonly_fields = ("policy", "budget", "spent", "seconds", "error", "metrics")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Experiment)
class ExperimentAdmin(RecordAdmin):
    """Experiments of the policy laboratory."""

    list_display = ("id", "name", "source", "budget", "state", "started_by", "created", "finished")
    list_filter = ("state", "source")
    search_fields = ("name",)
    exclude = ("trace", "subscribers", "claim")
    inlines = (OutcomesInline,)
    actions = ("stop_experiments",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_staff)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Experiment]:
        return super().get_queryset(request).defer("trace", "subscribers")

    @admin.action(description="Stop")
    def stop_experiments(self, request: HttpRequest, experiments: QuerySet[Experiment]) -> None:
        """Stop the experiments that still run."""
        stopped = sum(stop(experiment) for experiment in experiments)
        self.message_user(request, f"{stopped} stopped.")
