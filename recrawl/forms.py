"""Forms that add a watched site and change its settings."""

from __future__ import annotations

from django import forms

from crawler.web.forms import LinesField, RowForm
from crawler.web.validators import is_pattern
from recrawl.models import SETTINGS, Site, is_selector


class SettingsForm(RowForm):
    """The settings of a site: how it is visited, and which parts of its pages do not count."""

    ignore_selectors = LinesField(
        required=False,
        validators=[is_selector],
        label="Ignore elements",
        help_text="CSS selectors, one to a line. What they match does not count as a change.",
    )
    ignore_patterns = LinesField(
        required=False,
        validators=[is_pattern],
        label="Ignore lines of text",
        help_text="Regular expressions, one to a line. Lines that match do not count.",
    )

    class Meta:
        model = Site
        fields = list(SETTINGS)
        labels = {
            "every": "Days between visits",
            "budget": "Budget",
            "max_pages": "Pages at most",
            "minimum_change": "Smallest change",
        }


class SiteForm(SettingsForm):
    """The settings and the address of a new site."""

    url = forms.CharField(
        label="Top page",
        max_length=1000,
        widget=forms.TextInput(attrs={"placeholder": "https://example.org/"}),
    )

    field_order = ["url"]
