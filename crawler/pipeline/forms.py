"""Forms of the pipeline's pages."""

from __future__ import annotations

from django import forms

from crawler.web.validators import is_pattern


class FilterForm(forms.Form):
    """A rule on addresses."""

    pattern = forms.CharField(max_length=500, label="Regular expression", validators=[is_pattern])
    allow = forms.TypedChoiceField(
        choices=[("deny", "deny"), ("allow", "allow")], coerce=lambda word: word == "allow", label="Rule"
    )
