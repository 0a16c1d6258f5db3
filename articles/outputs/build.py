"""From stored articles to the item model: one page of a personal feed in a handful of queries."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from articles.models import Article, PersonalFeed, Subscription
from articles.personal import selection
from crawler.models import Deployment
from crawler.syndication.item import (
    Channel,
    Item,
    Source,
    attachment,
    full_body,
    language_tag,
    short_body,
    web_url,
)

PAGE_ITEMS = 50
LAST_PAGE = 1000

_COLUMNS = (
    "id", "url", "title", "author", "category", "categories", "language", "published", "updated",
    "summary", "content", "text", "enclosures", "feed__title", "feed__canonical_url", "feed__site_url",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the document is served: itself without a page number, and the reader's own pages."""

    self_url: str
    home_url: str

    def page(self, number: int) -> str:
        """The address of one page; the first has none in it."""
        return self.self_url if number == 1 else f"{self.self_url}?page={number}"


def build_page(personal_feed: PersonalFeed, number: int, addresses: Addresses) -> tuple[Channel, list[Item]]:
    """Page `number` (from 1) of a personal feed, newest first."""
    first = (number - 1) * PAGE_ITEMS
    rows = selection(personal_feed).select_related("feed").only(*_COLUMNS)
    articles = list(rows[first : first + PAGE_ITEMS + 1])
    more = len(articles) > PAGE_ITEMS and number < LAST_PAGE
    del articles[PAGE_ITEMS:]
    deployment = Deployment.own_key()
    items = _items(personal_feed, articles, deployment)
    channel = Channel(
        id=_urn(deployment, "personal-feed", personal_feed.pk),
        title=personal_feed.name,
        description=_description(personal_feed),
        home_url=addresses.home_url,
        self_url=addresses.page(number),
        first_url=addresses.page(1),
        next_url=addresses.page(number + 1) if more else "",
        previous_url=addresses.page(number - 1) if number > 1 else "",
        updated=max((item.updated for item in items), default=personal_feed.changed),
    )
    return channel, items


def _items(personal_feed: PersonalFeed, articles: Iterable[Article], deployment: uuid.UUID) -> list[Item]:
    articles = list(articles)
    own_titles = dict(
        Subscription.objects.filter(
            subscriber=personal_feed.subscriber, feed__in={article.feed_id for article in articles}
        ).values_list("feed_id", "title")
    )
    full = personal_feed.body == PersonalFeed.Body.FULL
    return [_item(article, full, own_titles.get(article.feed_id, ""), deployment) for article in articles]


def _item(article: Article, full: bool, own_title: str, deployment: uuid.UUID) -> Item:
    feed = article.feed
    found = (attachment(given) for given in article.enclosures)
    return Item(
        id=_urn(deployment, "article", article.pk),
        url=web_url(article.url),
        title=article.title.strip() or _first_words(article.text) or "Untitled",
        author=article.author,
        published=article.published,
        updated=article.updated,
        summary=short_body(article.summary, article.text),
        content=full_body(article.content, article.summary, article.text) if full else "",
        source=Source(own_title or feed.title or feed.canonical_url, feed.canonical_url, feed.site_url),
        language=language_tag(article.language),
        categories=tuple(article.categories or ([article.category] if article.category else ())),
        attachments=tuple(media for media in found if media is not None),
    )


def _description(personal_feed: PersonalFeed) -> str:
    parts = [f"Articles from the folder {personal_feed.folder}" if personal_feed.folder else "Articles"]
    if personal_feed.include:
        parts.append(f"about {', '.join(personal_feed.include)}")
    if personal_feed.exclude:
        parts.append(f"without {', '.join(personal_feed.exclude)}")
    return " ".join(parts)


def _first_words(text: str) -> str:
    return " ".join(text[:200].split()[:10])


def _urn(deployment: uuid.UUID, kind: str, key: int) -> str:
    """An id made of the deployment's and the row's alone (RFC 9562 name-based UUID)."""
    return uuid.uuid5(deployment, f"{kind}:{key}").urn


def last_changed(personal_feed: PersonalFeed, channel: Channel) -> datetime:
    """The newest change among the items, and of the personal feed's own settings."""
    return max(channel.updated, personal_feed.changed)
