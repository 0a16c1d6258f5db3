"""Notifications as other pages show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from crawler.notices.models import Rule, RuleQuerySet
from feeds.models import Feed

register = template.Library()


@register.simple_tag(takes_context=True)
def rules_about(context: Mapping[str, Any], feed: Feed) -> RuleQuerySet:
    """Return the notifications about a feed that the person who is signed in has."""
    return Rule.objects.filter(user=context["user"], feed=feed).order_by("pk")
