"""Forms to begin a crawl and to change its scope."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crawler.frontier.models import MAX_QUERY, Crawl
from crawler.frontier.scope import Scope, ScopeError
from crawler.frontier.score import INTER_WEIGHT, INTRA_WEIGHT
from crawler.frontier.wording import BELOW, BEYOND, SITE, scope_of
from crawler.web.forms import LinesField, RowForm

QUERY_ATTRIBUTES = {
    "rows": 5,
    "spellcheck": "false",
    "placeholder": "SELECT ?address WHERE { ?page schema:about ?thing . ?thing foaf:homepage ?address }",
}
WEIGHTS = {"inter_weight": INTER_WEIGHT, "intra_weight": INTRA_WEIGHT}
USUAL_PAGES, MAX_PAGES = 500, 100_000_000
MORE_LIMITS = ("max_wait", "max_minutes", "max_bytes", "max_depth", "max_hosts", *WEIGHTS)
"""Fields that are folded away at first."""


def _usable(expressions: list[str]) -> list[str]:
    try:
        Scope(expressions)
    except ScopeError as error:
        raise ValidationError(str(error)) from error
    return expressions


class QueryForm(forms.Form):
    """A form for the query that leads a crawl."""

    link_query = forms.CharField(
        required=False,
        max_length=MAX_QUERY,
        label=gettext_lazy("Led by a query"),
        widget=forms.Textarea(attrs=QUERY_ATTRIBUTES),
    )


class ScopeForm(forms.Form):
    """A form for a scope: regular expressions, one per line."""

    scope = LinesField(required=False, label=gettext_lazy("Scope"))

    def clean_scope(self) -> list[str]:
        """Return the expressions. Raises ValidationError for one that does not compile."""
        return _usable(self.cleaned_data["scope"])


class CrawlForm(RowForm):
    """A form for where a crawl starts, how far it goes and how many pages it takes; the rest is folded."""

    seeds = LinesField(
        label=gettext_lazy("Start at"),
        help_text=gettext_lazy("One address to a line."),
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    far = forms.ChoiceField(
        required=False,
        initial=SITE,
        label=gettext_lazy("How far"),
        choices=[
            (BELOW, gettext_lazy("Only below these addresses")),
            (SITE, gettext_lazy("The whole site")),
            (BEYOND, gettext_lazy("Beyond it")),
        ],
    )
    max_pages = forms.IntegerField(
        label=gettext_lazy("At most"),
        initial=USUAL_PAGES,
        min_value=1,
        max_value=MAX_PAGES,
        widget=forms.NumberInput(attrs={"class": "euro", "inputmode": "numeric"}),
    )
    scope = LinesField(
        required=False,
        label=gettext_lazy("Stay within, one regular expression to a line"),
        help_text=gettext_lazy("An address must match one of them. Empty: as you chose above."),
    )

    class Meta:
        model = Crawl
        fields = [
            "seeds", "scope", "strategy", "max_pages", "max_wait", "max_minutes", "max_bytes",
            "max_depth", "max_hosts", "inter_weight", "intra_weight", "sitemaps", "keep_bodies", "into_graph",
            "link_query",
        ]  # fmt: skip
        labels = {
            "max_wait": gettext_lazy("Longest wait in the queue"),
            "max_minutes": gettext_lazy("Minutes at most"),
            "max_bytes": gettext_lazy("Bytes at most"),
            "max_depth": gettext_lazy("Depth at most"),
            "max_hosts": gettext_lazy("Hosts at most"),
            "inter_weight": gettext_lazy("Weight of links to other sites"),
            "intra_weight": gettext_lazy("Weight of links within a site"),
            "strategy": gettext_lazy("Order"),
            "sitemaps": gettext_lazy("Sitemaps"),
            "keep_bodies": gettext_lazy("Keep bodies"),
            "into_graph": gettext_lazy("Into the graph"),
            "link_query": gettext_lazy("Led by a query"),
        }
        widgets = {"link_query": forms.Textarea(attrs=QUERY_ATTRIBUTES)}

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in WEIGHTS:
            self.fields[name].required = False
            self.fields[name].help_text = _("For the order link-score alone; from 0 to 1.")

    @property
    def more_limits(self) -> list[forms.BoundField]:
        """The limits that are folded away at first."""
        return [self[name] for name in MORE_LIMITS]

    @property
    def has_errors_in_more_limits(self) -> bool:
        """True where one of the limits that are folded away is wrong."""
        return any(field.errors for field in self.more_limits)

    def clean(self) -> dict[str, Any]:
        """Make the scope from how far it goes, and give weights that were left out the paper's values."""
        cleaned = super().clean() or {}
        far = cleaned.get("far") or SITE
        if not cleaned.get("scope"):
            cleaned["scope"] = scope_of(far, cleaned.get("seeds") or [])
        self.instance.anywhere = far == BEYOND
        return cleaned | {name: value for name, value in WEIGHTS.items() if cleaned.get(name) is None}

    def clean_scope(self) -> list[str]:
        """Return the expressions. Raises ValidationError for one that does not compile."""
        return _usable(self.cleaned_data["scope"])
