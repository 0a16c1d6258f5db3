"""The form that starts an experiment."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from crawler.web.forms import RowForm
from feeds.laboratory.experiments import MAX_BYTES, checked_trace
from feeds.laboratory.models import Experiment, all_policies
from feeds.replay.trace import Trace, TraceError
from feeds.scheduling.registry import POLICIES


class ExperimentForm(RowForm):
    """A form for a trace, policies and replay settings."""

    policies = forms.MultipleChoiceField(
        choices=[(name, name) for name in POLICIES],
        initial=all_policies,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one policy.")},
    )
    file = forms.FileField(
        required=False,
        label=gettext_lazy("Trace to upload"),
        help_text=gettext_lazy(
            "CSV, also gzipped: columns feed,published (epoch seconds), a line for each article."
        ),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.gz,text/csv,application/gzip"}),
    )

    class Meta:
        model = Experiment
        fields = [
            "source", "file", "policies", "budget", "curve", "train_days", "tick", "window", "beta",
            "audience",
        ]  # fmt: skip
        labels = {
            "source": gettext_lazy("Trace"),
            "budget": gettext_lazy("Budget"),
            "beta": gettext_lazy("Beta"),
            "curve": gettext_lazy("Curve of delay by budget"),
            "train_days": gettext_lazy("Days to learn from"),
            "tick": gettext_lazy("Seconds between ticks"),
            "window": gettext_lazy("Entries a document holds"),
            "audience": gettext_lazy("Weigh subscribers"),
        }

    trace: Trace | None = None

    def clean(self) -> dict[str, Any] | None:
        """Parse the uploaded trace when the source is an upload."""
        cleaned = super().clean() or {}
        if cleaned.get("source") == Experiment.Source.UPLOAD and "file" not in self.errors:
            file = cleaned.get("file")
            if not file:
                raise ValidationError({"file": gettext_lazy("Choose the file with the posting times.")})
            try:
                self.trace = checked_trace(file.name, file.read(MAX_BYTES + 1))
            except TraceError as error:
                raise ValidationError({"file": str(error)}) from error
        return cleaned
