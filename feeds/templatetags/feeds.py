"""Pictures of feeds in pages."""

from __future__ import annotations

from datetime import UTC, datetime

from django import template
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext, pgettext_lazy

from crawler.reading.sources.kinds import DATA, FEED, MAIL, PAGE, SITEMAP
from crawler.web.pictures.addresses import icon_address
from feeds.models import Feed, Retrieval
from feeds.pages.deeds import address_of_rules
from feeds.phrases import moment_words, visit_words

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


@register.filter
def rules_address(feed: Feed) -> str:
    """Return the address of the page on which a person chooses which parts of a page are its articles."""
    return address_of_rules(feed)


@register.filter
def brought(visit: Retrieval) -> str:
    """Return what a visit brought, in words."""
    return visit_words(visit.outcome, visit.new, visit.failure)


@register.simple_tag
def day_time(moment: datetime) -> SafeString:
    """Write a moment of the past as people say it ("Thursday 16:12"), the full date on hover."""
    words = moment_words(moment, datetime.now(UTC), timezone.get_current_timezone())
    full = format_date(timezone.localtime(moment), pgettext("full date format", "l j F Y, H:i T"))
    stamp = moment.astimezone(UTC).isoformat()
    return format_html(
        '<time class="quiet small nowrap" datetime="{}" title="{}">{}</time>', stamp, full, words
    )
