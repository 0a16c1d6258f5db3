"""Forms of the pipeline's pages."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.web.validators import is_pattern


class FilterForm(forms.Form):
    """A rule on addresses."""

    pattern = forms.CharField(
        max_length=500, label=gettext_lazy("Regular expression"), validators=[is_pattern]
    )
    allow = forms.TypedChoiceField(
        choices=[
            ("deny", pgettext_lazy("rule", "deny")),
            ("allow", pgettext_lazy("rule", "allow")),
        ],
        coerce=lambda word: word == "allow",
        label=gettext_lazy("Rule"),
    )
