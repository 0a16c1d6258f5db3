"""Pictures of feeds in pages."""

from __future__ import annotations

from django import template

from crawler.web.pictures.addresses import icon_address
from feeds.models import Feed

register = template.Library()


@register.filter
def icon_of(feed: Feed) -> str:
    """Return the address of a feed's icon."""
    return icon_address(feed.pk)
