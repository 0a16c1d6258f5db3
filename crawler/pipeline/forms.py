"""Forms of the pipeline's pages."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

from crawler.pipeline.extract import FilterError, checked_pattern


class FilterForm(forms.Form):
    """A rule on addresses."""

    pattern = forms.CharField(max_length=500, label="Regular expression")
    allow = forms.TypedChoiceField(
        choices=[("deny", "deny"), ("allow", "allow")], coerce=lambda word: word == "allow", label="Rule"
    )

    def clean_pattern(self) -> str:
        """An expression that compiles."""
        try:
            return checked_pattern(self.cleaned_data["pattern"])
        except FilterError as error:
            raise ValidationError(str(error)) from error
