"""Forms to begin a crawl and to change its scope."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from crawler.frontier.models import Crawl
from crawler.frontier.scope import Scope, ScopeError
from crawler.web.forms import LinesField, RowForm


def _usable(expressions: list[str]) -> list[str]:
    try:
        Scope(expressions)
    except ScopeError as error:
        raise ValidationError(str(error)) from error
    return expressions


class ScopeForm(forms.Form):
    """A form for a scope: regular expressions, one per line."""

    scope = LinesField(required=False, label=gettext_lazy("Scope"))

    def clean_scope(self) -> list[str]:
        """Return the expressions. Raises ValidationError for one that does not compile."""
        return _usable(self.cleaned_data["scope"])


class CrawlForm(RowForm):
    """A form for a crawl's seeds, order, scope and limits."""

    seeds = LinesField(label=gettext_lazy("Start addresses, one to a line"))
    scope = LinesField(
        required=False,
        label=gettext_lazy("Stay within, one regular expression to a line"),
        help_text=gettext_lazy("An address must match one of them. Empty: the sites of the start addresses."),
    )

    class Meta:
        model = Crawl
        fields = [
            "seeds", "scope", "anywhere", "strategy", "max_pages", "max_wait", "max_minutes", "max_bytes",
            "max_depth", "max_hosts", "sitemaps", "keep_bodies", "into_graph",
        ]  # fmt: skip
        labels = {
            "max_pages": gettext_lazy("Pages at most"),
            "max_wait": gettext_lazy("Longest wait in the queue"),
            "max_minutes": gettext_lazy("Minutes at most"),
            "max_bytes": gettext_lazy("Bytes at most"),
            "max_depth": gettext_lazy("Depth at most"),
            "max_hosts": gettext_lazy("Hosts at most"),
            "strategy": gettext_lazy("Order"),
            "anywhere": gettext_lazy("Follow links to other sites, too"),
            "sitemaps": gettext_lazy("Sitemaps"),
            "keep_bodies": gettext_lazy("Keep bodies"),
            "into_graph": gettext_lazy("Into the graph"),
        }

    def clean_scope(self) -> list[str]:
        """Return the expressions. Raises ValidationError for one that does not compile."""
        return _usable(self.cleaned_data["scope"])
