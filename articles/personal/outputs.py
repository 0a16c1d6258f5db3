"""From stored articles to the item model: one page of a personal feed in a handful of queries."""

from __future__ import annotations

import html
import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from articles.enrichment.models import Enrichment
from articles.models import Article, PersonalFeed, Subscription
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
    title_of,
    web_url,
)
from feeds.models import Feed

PAGE_ITEMS = 50
LAST_PAGE = 1000
MOST_SOURCES = 10
"""Other feeds of its story that an item names."""

_ROWS = f"""
SELECT
    article.id, article.url, article.title, article.author, article.category, article.categories,
    article.language, article.published, article.updated, article.summary, article.content, article.text,
    article.enclosures::text,
    coalesce(nullif(followed.title, ''), nullif(feed.title, ''), feed.canonical_url),
    feed.canonical_url, feed.site_url,
    coalesce(made.summary, ''), coalesce(made.category, ''), made.story_id, made.at
FROM {Article._meta.db_table} AS article
JOIN {Feed._meta.db_table} AS feed ON feed.id = article.feed_id
LEFT JOIN {Enrichment._meta.db_table} AS made ON made.article_id = article.id
LEFT JOIN {Subscription._meta.db_table} AS followed
    ON followed.feed_id = article.feed_id AND followed.subscriber_id = %s
WHERE article.id = ANY(%s::bigint[])
"""  # noqa: S608 - the tables' own names


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the document is served: itself without a page number, and the deployment's own address."""

    self_url: str
    root_url: str

    def page(self, number: int) -> str:
        """The address of one page; the first has none in it."""
        return self.self_url if number == 1 else f"{self.self_url}?page={number}"

    def under(self, path: str) -> str:
        """The address of a path of this deployment."""
        return self.root_url.rstrip("/") + path


class _Row(NamedTuple):
    """What `_ROWS` answers for an article: `source` is the subscriber's name for the feed, else its own."""

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
    source: str
    feed_url: str
    site_url: str
    made_summary: str
    made_category: str
    story: int | None
    made_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Also:
    """Another feed that carries an item's story: its name, and the address of the article there."""

    feed: str
    url: str


def build_page(personal_feed: PersonalFeed, number: int, addresses: Addresses) -> tuple[Channel, list[Item]]:
    """Page `number` (from 1) of a personal feed, in its order."""
    first = (number - 1) * PAGE_ITEMS
    keys = chosen(personal_feed, first, PAGE_ITEMS + 1)
    more, keys = len(keys) > PAGE_ITEMS and number < LAST_PAGE, keys[:PAGE_ITEMS]
    deployment = Deployment.own_key()
    found = {row[0]: _Row(*row) for row in planned_rows(_ROWS, [personal_feed.subscriber_id, keys])}
    rows = [found[key] for key in keys if key in found]  # without what went in the meantime
    items = _items(personal_feed, rows, deployment, addresses)
    channel = Channel(
        id=_urn(deployment, "personal-feed", personal_feed.pk),
        title=personal_feed.name,
        description=_description(personal_feed),
        home_url=addresses.under("/me/"),
        self_url=addresses.page(number),
        first_url=addresses.page(1),
        next_url=addresses.page(number + 1) if more else "",
        previous_url=addresses.page(number - 1) if number > 1 else "",
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
    found = (attachment(given) for given in json.loads(row.enclosures))
    short = short_body(row.summary, row.made_summary or row.text)
    body = full_body(row.content, row.summary, row.text) if full else ""
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
        attachments=tuple(media for media in found if media is not None),
    )


def _categories(row: _Row) -> tuple[str, ...]:
    """The entry's own, and the deployment's."""
    named = [*(row.categories or [row.category]), row.made_category]
    return tuple(dict.fromkeys(name for name in named if name.strip()))


def _elsewhere(rows: Iterable[_Row]) -> dict[int, list[_Also]]:
    """By article the other members of its story: what is grouped stays listed."""
    stories = {row.story: row.id for row in rows if row.story}
    if not stories:
        return {}
    members = Enrichment.objects.filter(story__in=stories).exclude(article__in=stories.values())
    ordered = members.order_by("article__published", "article_id")
    found: defaultdict[int, list[_Also]] = defaultdict(list)
    for story, title, address, url in ordered.values_list(
        "story_id", "article__feed__title", "article__feed__canonical_url", "article__url"
    ):
        if len(found[stories[story]]) < MOST_SOURCES:
            found[stories[story]].append(_Also(title or address, web_url(url)))
    return found


def _ending(also: Iterable[_Also], rate: str) -> str:
    """What Freshet adds to the text of an item: other sources, and where to say what one thinks of it."""
    named = [
        f'<a href="{html.escape(one.url)}">{html.escape(one.feed)}</a>' if one.url else html.escape(one.feed)
        for one in also
    ]
    others = f"<p>Also in: {', '.join(named)}</p>" if named else ""
    return f'{others}<p><a href="{html.escape(rate)}">More or less like this, and why it is here</a></p>'


def _description(personal_feed: PersonalFeed) -> str:
    parts = [f"Articles from the folder {personal_feed.folder}" if personal_feed.folder else "Articles"]
    if personal_feed.categories:
        parts.append(f"in {', '.join(personal_feed.categories)}")
    if personal_feed.include:
        parts.append(f"about {', '.join(personal_feed.include)}")
    if personal_feed.exclude:
        parts.append(f"without {', '.join(personal_feed.exclude)}")
    if personal_feed.order == PersonalFeed.Order.INTEREST:
        parts.append("by interest")
    return " ".join(parts)


def _urn(deployment: uuid.UUID, kind: str, key: int) -> str:
    """An id made of the deployment's and the row's alone (RFC 9562 name-based UUID)."""
    return uuid.uuid5(deployment, f"{kind}:{key}").urn


def last_changed(personal_feed: PersonalFeed, channel: Channel) -> datetime:
    """The newest change among the items, and of the personal feed's own settings."""
    return max(channel.updated, personal_feed.changed)
