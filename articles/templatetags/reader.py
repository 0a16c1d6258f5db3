"""Addresses in the reader's pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from django import template
from django.template import Context
from django.utils.html import escape, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy, pgettext_lazy

from articles.exporting.formats import FORMATS
from articles.models import Article
from articles.reader.counts import FeedCount
from articles.reader.lists import ReadingList, read_path
from articles.reader.of_feed import FeedReading, reading_of
from articles.things.pages import person_address
from articles.things.people import names_of, site_of
from crawler.web.pictures.addresses import icon_address, picture_address, with_own_pictures
from crawler.web.pictures.loading import picture_cache
from crawler.web.templatetags.freshet import icon
from feeds.models import Feed

register = template.Library()

TOPIC_NAMES = {
    "Culture and media": gettext_lazy("Culture and media"),
    "War and peace": gettext_lazy("War and peace"),
    "Crime and justice": gettext_lazy("Crime and justice"),
    "Disasters and accidents": gettext_lazy("Disasters and accidents"),
    "Economy and business": gettext_lazy("Economy and business"),
    "Education": gettext_lazy("Education"),
    "Environment": gettext_lazy("Environment"),
    "Health": pgettext_lazy("topic", "Health"),
    "Human interest": gettext_lazy("Human interest"),
    "Work": pgettext_lazy("topic", "Work"),
    "Lifestyle and leisure": gettext_lazy("Lifestyle and leisure"),
    "Politics": gettext_lazy("Politics"),
    "Religion": gettext_lazy("Religion"),
    "Science and technology": gettext_lazy("Science and technology"),
    "Society": gettext_lazy("Society"),
    "Sport": gettext_lazy("Sport"),
    "Weather": gettext_lazy("Weather"),
}
"""The names of `articles.enrichment.topics` in the languages of readers."""


@register.filter
def topic_name(category: str) -> str:
    """Return the name of a topic in the reader's language; other categories as they are."""
    return str(TOPIC_NAMES.get(category, category))


@register.inclusion_tag("_export_menu.html")
def export_menu(address: str) -> dict[str, Any]:
    """Return the menu of the files that a list can be had as; `address` is that of its export."""
    return {"links": _export_links(address)}


@register.inclusion_tag("_export_links.html")
def export_links(address: str, *without: str) -> dict[str, Any]:
    """Return the links of that menu alone, for a menu that has others too."""
    return {"links": _export_links(address, without)}


def _export_links(address: str, without: Collection[str] = ()) -> list[tuple[str, str]]:
    joined = f"{address}{'&' if '?' in address else '?'}as="
    return [(f"{joined}{form.name}", form.label) for form in FORMATS.values() if form.name not in without]


@register.simple_tag
def list_address(reading_list: ReadingList, **changes: Any) -> str:
    """Return the address of a list, with these changes."""
    return reading_list.address(**changes)


@register.simple_tag
def article_address(reading_list: ReadingList, article: int) -> str:
    """Return the address of an article in a list."""
    return reading_list.address(article, page=1)


@register.simple_tag
def feed_icon(feed: int) -> SafeString:
    """Draw the icon of a feed."""
    source = icon_address(feed)  # of letters that need no escaping
    return mark_safe(f'<img class="fav" src="{source}" width="16" height="16" alt="" loading="lazy">')  # noqa: S308


@register.simple_tag
def feed_links(feeds: Iterable[FeedCount], reading_list: ReadingList | None) -> SafeString:
    """Draw the feeds of a folder in the sidebar; faster than a template for each of hundreds."""
    opened = reading_list.feed if reading_list else None
    return mark_safe("".join(_feed_link(feed, is_open=feed.feed == opened) for feed in feeds))  # noqa: S308


def _feed_link(feed: FeedCount, *, is_open: bool) -> str:
    current = ' aria-current="page"' if is_open else ""
    none = "" if feed.unread else ' class="none"'
    fails = f'{icon("alert", "warn")}<span class="vh">cannot be read now</span>' if feed.fails else ""
    return (
        f'<li data-feed="{feed.feed}"><a href="{read_path()}?feed={feed.feed}"{current}{none}>'
        f"{feed_icon(feed.feed)}<bdi>{escape(feed.name)}</bdi>{fails}"
        f'<span class="count">{feed.unread or ""}</span></a></li>'
    )


@register.simple_tag
def bylines(article: Article) -> SafeString:
    """Draw the names in an article's byline, each with a link to the person's page."""
    site = site_of(article.url)
    return format_html_join(
        ", ",
        '<a class="plainlink" href="{}"><bdi>{}</bdi></a>',
        ((person_address(name, site), name) for name in names_of(article.author)),
    )


@register.simple_tag(takes_context=True)
def reading_of_feed(context: Context, feed: Feed) -> FeedReading:
    """Return a feed as its page shows it to the person who is signed in, computed once for a page."""
    computed = context.render_context
    key = f"reading of feed {feed.pk}"
    reading: FeedReading = computed[key] if key in computed else reading_of(feed, context["user"])
    computed[key] = reading
    return reading


@register.filter
def thumbnail(url: str) -> str:
    """Return the address at which this deployment serves a small size of a picture of the web."""
    return picture_address(url, "thumbnail")


@register.filter
def own_pictures(body: str) -> SafeString:
    """Return sanitised HTML whose pictures come from this deployment."""
    return mark_safe(with_own_pictures(body, picture_cache().size_of))  # noqa: S308 - sanitised before it was stored


@register.filter
def clock(seconds: int) -> str:
    """Return a duration in seconds as "1 h 2 min", or as seconds where it is under a minute."""
    hours, minutes = seconds // 3600, round(seconds % 3600 / 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min" if minutes else f"{seconds} s"


@register.simple_tag
def with_text(reading_list: ReadingList, text: str) -> str:
    """Return the query of the shown article's address with another text, the feed's or its page's."""
    return "&".join(part for part in (reading_list.query, urlencode({"text": text})) if part)
