"""Pages of personal feeds: stored articles converted to the item model in a handful of queries."""

from __future__ import annotations

import html
import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import gettext as _

from articles.enrichment.models import Enrichment
from articles.models import Article, Page, PersonalFeed, Subscription
from articles.personal.rating import feedback_addresses
from articles.personal.selection import chosen
from crawler.database.prepared import planned_rows
from crawler.engine.models import Deployment
from crawler.web.syndication.item import (
    Channel,
    Item,
    ItemSource,
    attachment,
    full_body,
    language_tag,
    short_body,
    stored_details,
    title_of,
    web_url,
)
from feeds.models import Feed

PAGE_ITEMS = 50
LAST_PAGE = 1000
HUB_PATH = "/websub/hub/"
"""Path at which programs subscribe to personal feeds."""
MAX_SOURCES = 10
"""Other feeds of its story that an item names."""

_ROWS = f"""
SELECT
    article.id, article.url, article.title, article.author, article.category, article.categories,
    article.language, article.published, article.updated, article.summary, article.content, article.text,
    article.enclosures::text, article.details::text, article.image,
    coalesce(nullif(followed.title, ''), nullif(feed.title, ''), feed.canonical_url),
    feed.canonical_url, feed.site_url,
    coalesce(made.summary, ''), coalesce(made.category, ''), made.story_id, made.at,
    coalesce(page.content, '')
FROM {Article._meta.db_table} AS article
JOIN {Feed._meta.db_table} AS feed ON feed.id = article.feed_id
LEFT JOIN {Page._meta.db_table} AS page ON page.id = article.page_id
LEFT JOIN {Enrichment._meta.db_table} AS made ON made.article_id = article.id
LEFT JOIN {Subscription._meta.db_table} AS followed
    ON followed.feed_id = article.feed_id AND followed.subscriber_id = %s
WHERE article.id = ANY(%s::bigint[])
"""  # noqa: S608 - the tables' own names


@dataclass(frozen=True, slots=True)
class Addresses:
    """The URLs of a served document: its own without a page number, and the deployment's root."""

    self_url: str
    root_url: str

    def page(self, number: int) -> str:
        """Return the URL of one page. The first page has no number in it."""
        return self.self_url if number == 1 else f"{self.self_url}?page={number}"

    def under(self, path: str) -> str:
        """Return the URL of a path of this deployment."""
        return self.root_url.rstrip("/") + path


class _Row(NamedTuple):
    """A row of `_ROWS`: `source` is the subscriber's name for the feed, else its own."""

    id: int
    url: str
    title: str
    author: str
    category: str
    categories: list[str]
    language: str
    published: datetime
    updated: datetime
    summary: str
    content: str
    text: str
    enclosures: str
    details: str
    image: str
    source: str
    feed_url: str
    site_url: str
    made_summary: str
    made_category: str
    story: int | None
    made_at: datetime | None
    page: str


@dataclass(frozen=True, slots=True)
class _Also:
    """Another feed that carries an item's story: its name, and the address of its article."""

    feed: str
    url: str


def build_page(personal_feed: PersonalFeed, number: int, addresses: Addresses) -> tuple[Channel, list[Item]]:
    """Build page `number` (from 1) of a personal feed, in its order."""
    first = (number - 1) * PAGE_ITEMS
    keys = chosen(personal_feed, first, PAGE_ITEMS + 1)
    has_next, keys = len(keys) > PAGE_ITEMS and number < LAST_PAGE, keys[:PAGE_ITEMS]
    deployment = Deployment.own_key()
    rows_by_key = {row[0]: _Row(*row) for row in planned_rows(_ROWS, [personal_feed.subscriber_id, keys])}
    rows = [rows_by_key[key] for key in keys if key in rows_by_key]  # without what went in the meantime
    items = _items(personal_feed, rows, deployment, addresses)
    channel = Channel(
        id=_urn(deployment, "personal-feed", personal_feed.pk),
        title=personal_feed.name,
        description=_description(personal_feed),
        home_url=addresses.under(reverse("read")),
        self_url=addresses.page(number),
        first_url=addresses.page(1),
        next_url=addresses.page(number + 1) if has_next else "",
        previous_url=addresses.page(number - 1) if number > 1 else "",
        hub_url=addresses.under(HUB_PATH),
        updated=max((item.updated for item in items), default=personal_feed.changed),
    )
    return channel, items


def _items(
    personal_feed: PersonalFeed, rows: Sequence[_Row], deployment: uuid.UUID, addresses: Addresses
) -> list[Item]:
    full, also = personal_feed.body == PersonalFeed.Body.FULL, _elsewhere(rows)
    rate = feedback_addresses(personal_feed, [row.id for row in rows])
    items = []
    for row in rows:
        ending = _ending(also.get(row.id, ()), addresses.under(rate[row.id]))
        items.append(_item(row, _urn(deployment, "article", row.id), ending, full=full))
    return items


def _item(row: _Row, key: str, ending: str, *, full: bool) -> Item:
    attachments = (attachment(enclosure) for enclosure in json.loads(row.enclosures))
    short = short_body(row.summary, row.made_summary or row.text)
    body = full_body(row.content, row.summary, row.text, row.page) if full else ""
    return Item(
        id=key,
        url=web_url(row.url),
        title=title_of(row.title, row.text),
        author=row.author,
        published=row.published,
        updated=max(row.updated, row.made_at) if row.made_at else row.updated,
        summary=short if full else short + ending,
        content=body + ending if full else "",
        source=ItemSource(row.source, row.feed_url, row.site_url),
        language=language_tag(row.language),
        categories=_categories(row),
        attachments=tuple(media for media in attachments if media is not None),
        image=web_url(row.image),
        details=stored_details(json.loads(row.details)),
    )


def _categories(row: _Row) -> tuple[str, ...]:
    """Return the entry's own categories, and the deployment's category."""
    names = [*(row.categories or [row.category]), row.made_category]
    return tuple(dict.fromkeys(name for name in names if name.strip()))


def _elsewhere(rows: Iterable[_Row]) -> dict[int, list[_Also]]:
    """Return the other members of each article's story, so that grouped articles stay listed."""
    stories = {row.story: row.id for row in rows if row.story}
    if not stories:
        return {}
    members = Enrichment.objects.filter(story__in=stories).exclude(article__in=stories.values())
    ordered = members.order_by("article__published", "article_id")
    others_by_article: defaultdict[int, list[_Also]] = defaultdict(list)
    for story, title, address, url in ordered.values_list(
        "story_id", "article__feed__title", "article__feed__canonical_url", "article__url"
    ):
        if len(others_by_article[stories[story]]) < MAX_SOURCES:
            others_by_article[stories[story]].append(_Also(title or address, web_url(url)))
    return others_by_article


def _ending(also: Iterable[_Also], rate: str) -> str:
    """Return the text that is added to an item: other sources, and links for feedback."""
    links = [
        f'<a href="{html.escape(source.url)}">{html.escape(source.feed)}</a>'
        if source.url
        else html.escape(source.feed)
        for source in also
    ]
    also_in = _("Also in: %(links)s") % {"links": ", ".join(links)}
    others = f"<p>{also_in}</p>" if links else ""
    message = _("More or less like this, and why it is here")
    return f'{others}<p><a href="{html.escape(rate)}">{message}</a></p>'


def _description(personal_feed: PersonalFeed) -> str:
    parts = [
        _("Articles from the folder %(folder)s") % {"folder": personal_feed.folder}
        if personal_feed.folder
        else _("Articles")
    ]
    if personal_feed.categories:
        parts.append(_("in %(categories)s") % {"categories": ", ".join(personal_feed.categories)})
    if personal_feed.include:
        parts.append(_("about %(words)s") % {"words": ", ".join(personal_feed.include)})
    if personal_feed.exclude:
        parts.append(_("without %(words)s") % {"words": ", ".join(personal_feed.exclude)})
    if personal_feed.order == PersonalFeed.Order.INTEREST:
        parts.append(_("by interest"))
    return " ".join(parts)


def _urn(deployment: uuid.UUID, kind: str, key: int) -> str:
    """Return an id that depends only on the deployment and the row (RFC 9562 name-based UUID)."""
    return uuid.uuid5(deployment, f"{kind}:{key}").urn


def last_changed(personal_feed: PersonalFeed, channel: Channel) -> datetime:
    """Return the time of the newest change to an item or to the personal feed's settings."""
    return max(channel.updated, personal_feed.changed)
