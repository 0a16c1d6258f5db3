"""The template tag of the line that tells of an upgrade."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django import template
from django.contrib.auth.models import User
from django.utils import timezone

from crawler.operation.site.news import NewsOffer, news_for

register = template.Library()


@register.simple_tag(takes_context=True)
def news_line(context: Mapping[str, Any]) -> NewsOffer | None:
    """Return the line about an upgrade that the visitor has not seen, None without one."""
    person = context["user"]
    if not isinstance(person, User):
        return None
    return news_for(person, datetime.now(UTC), timezone.get_current_timezone())
