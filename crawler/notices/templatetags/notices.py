"""Tags for pages that say what a person is told of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.contrib.auth.models import User

from crawler.notices.forms import own_address
from crawler.notices.models import Rule, RuleQuerySet, Target
from crawler.notices.page_rules import PageRule, rules_about
from feeds.models import Feed
from recrawl.comparing.values import Value
from recrawl.models import WatchedPage

register = template.Library()


@register.simple_tag(takes_context=True)
def feed_rules(context: Mapping[str, Any], feed: Feed) -> RuleQuerySet:
    """Return the notifications about a feed that the person who is signed in has."""
    return Rule.objects.filter(user=context["user"], feed=feed).order_by("pk")


@register.filter
def plain_number(value: float | str | None) -> str:
    """Return a number as people write it into a field, 230 and not 230.0; what a form was sent as it is."""
    return f"{value:.15g}" if isinstance(value, float) else str(value if value is not None else "")


@register.simple_tag
def page_rules(user: User, page: WatchedPage, value: Value | None = None) -> list[PageRule]:
    """Return a person's rules about a watched page, in a few words each."""
    return rules_about(user, page, value)


@register.simple_tag
def places(user: User) -> dict[str, Any]:
    """Return the places that a person's messages can go to, and the mail address that can become one."""
    return {"targets": Target.objects.filter(user=user), "own_mail": own_address(user)}
