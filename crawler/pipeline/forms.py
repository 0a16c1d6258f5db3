"""Forms of the pipeline's pages."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.pipeline.models import SavedQuery
from crawler.web.forms import RowForm
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


class SavedQueryForm(RowForm):
    """A SPARQL query and the name to save it under."""

    class Meta:
        model = SavedQuery
        fields = ["name", "query"]
        error_messages = {"name": {"unique": gettext_lazy("There is a saved query with this name.")}}
