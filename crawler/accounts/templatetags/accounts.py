"""Template tags about one's own account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from crawler.accounts.models import Account
from crawler.web.roles import ROLE_NAMES

register = template.Library()


@register.filter
def role_name(role: str) -> str:
    """Return the name of a role in the reader's language."""
    return str(ROLE_NAMES.get(role, role))


@register.simple_tag(takes_context=True)
def has_printed_password(context: Mapping[str, Any]) -> bool:
    """Return whether the visitor's password is the one that was printed at the first start."""
    user = context["user"]
    return Account.objects.filter(user=user.pk, has_printed_password=True).exists()
