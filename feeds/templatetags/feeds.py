"""Pictures of feeds in pages."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy

from crawler.reading.sources.kinds import DATA, FEED, MAIL, PAGE, SITEMAP
from crawler.web.pictures.addresses import icon_address
from feeds.models import Feed

register = template.Library()

_KINDS = {
    FEED: pgettext_lazy("kind of source", "a feed"),
    SITEMAP: pgettext_lazy("kind of source", "a sitemap"),
    PAGE: pgettext_lazy("kind of source", "a list on a page"),
    DATA: pgettext_lazy("kind of source", "a list in JSON"),
    MAIL: pgettext_lazy("kind of source", "a newsletter"),
}


@register.filter
def kind_words(feed: Feed) -> str:
    """Return what a feed is made of, and whether it is one person's alone."""
    words = str(_KINDS.get(feed.kind, feed.kind))
    return _("%(kind)s, yours alone") % {"kind": words} if feed.owner_id else words


@register.filter
def icon_of(feed: Feed) -> str:
    """Return the address of a feed's icon."""
    return icon_address(feed.pk)
