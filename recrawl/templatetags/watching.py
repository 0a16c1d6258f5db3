"""The tag that fills the sidebar of the pages about watched sites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from recrawl.changes.seen import marks_of, watched_tree

register = template.Library()


@register.simple_tag(takes_context=True)
def sites_side(context: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the watched sites for the sidebar of a page below /sites/. Returns None on other pages."""
    user = context.get("user")
    if not context["request"].path_info.startswith("/sites/") or user is None or not user.is_authenticated:
        return None
    if "changes_tree" in context:
        return {name: context[name] for name in ("watched_sites", "unseen")}
    return watched_tree(marks_of(user))
