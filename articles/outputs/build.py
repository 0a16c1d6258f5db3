"""From stored articles to the item model: one page of a personal feed in a handful of queries."""

from __future__ import annotations

import html
import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from articles.enrichment.models import Enrichment
from articles.feedback import feedback_address
from articles.models import Article, PersonalFeed, Subscription
from articles.personal import chosen
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
MOST_SOURCES = 10
"""Other feeds of its story that an item names."""

_COLUMNS = (
    "id", "url", "title", "author", "category", "categories", "language", "published", "updated",
    "summary", "content", "text", "enclosures", "feed__title", "feed__canonical_url", "feed__site_url",
    "enrichment__summary", "enrichment__category", "enrichment__story_id", "enrichment__at",
)  # fmt: skip


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


@dataclass(frozen=True, slots=True)
class _Also:
    """Another feed that carries an item's story: its name, and the address of the article there."""

    feed: str
    url: str


def build_page(personal_feed: PersonalFeed, number: int, addresses: Addresses) -> tuple[Channel, list[Item]]:
    """Page `number` (from 1) of a personal feed, in its order."""
    first = (number - 1) * PAGE_ITEMS
    keys = chosen(personal_feed, first, PAGE_ITEMS + 1)
    more = len(keys) > PAGE_ITEMS and number < LAST_PAGE
    rows = Article.objects.select_related("feed", "enrichment").only(*_COLUMNS).in_bulk(keys[:PAGE_ITEMS])
    deployment = Deployment.own_key()
    items = _items(personal_feed, [rows[key] for key in keys if key in rows], deployment, addresses)
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
    personal_feed: PersonalFeed, articles: Sequence[Article], deployment: uuid.UUID, addresses: Addresses
) -> list[Item]:
    own_titles = dict(
        Subscription.objects.filter(
            subscriber=personal_feed.subscriber_id, feed__in={article.feed_id for article in articles}
        ).values_list("feed_id", "title")
    )
    full, also = personal_feed.body == PersonalFeed.Body.FULL, _elsewhere(articles)
    items = []
    for article in articles:
        rate = addresses.under(feedback_address(personal_feed, article.pk))
        ending = _ending(also.get(article.pk, ()), rate)
        own_title = own_titles.get(article.feed_id, "")
        items.append(_item(article, own_title, _urn(deployment, "article", article.pk), ending, full=full))
    return items


def _item(article: Article, own_title: str, key: str, ending: str, *, full: bool) -> Item:
    feed, made = article.feed, _made(article)
    found = (attachment(given) for given in article.enclosures)
    short = short_body(article.summary, (made.summary if made else "") or article.text)
    body = full_body(article.content, article.summary, article.text) if full else ""
    return Item(
        id=key,
        url=web_url(article.url),
        title=article.title.strip() or _first_words(article.text) or "Untitled",
        author=article.author,
        published=article.published,
        updated=max(article.updated, made.at) if made and made.at else article.updated,
        summary=short if full else short + ending,
        content=body + ending if full else "",
        source=Source(own_title or feed.title or feed.canonical_url, feed.canonical_url, feed.site_url),
        language=language_tag(article.language),
        categories=_categories(article, made),
        attachments=tuple(media for media in found if media is not None),
    )


def _made(article: Article) -> Enrichment | None:
    return getattr(article, "enrichment", None)


def _categories(article: Article, made: Enrichment | None) -> tuple[str, ...]:
    """The entry's own, and the deployment's."""
    named = [*(article.categories or [article.category]), made.category if made else ""]
    return tuple(dict.fromkeys(name for name in named if name.strip()))


def _elsewhere(articles: Iterable[Article]) -> dict[int, list[_Also]]:
    """By article the other members of its story: what is grouped stays listed."""
    stories = {
        made.story_id: article.pk for article in articles if (made := _made(article)) and made.story_id
    }
    members = Enrichment.objects.filter(story__in=stories).exclude(article__in=stories.values())
    rows = members.order_by("article__published", "article_id")
    found: defaultdict[int, list[_Also]] = defaultdict(list)
    for story, title, address, url in rows.values_list(
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


def _first_words(text: str) -> str:
    return " ".join(text[:200].split()[:10])


def _urn(deployment: uuid.UUID, kind: str, key: int) -> str:
    """An id made of the deployment's and the row's alone (RFC 9562 name-based UUID)."""
    return uuid.uuid5(deployment, f"{kind}:{key}").urn


def last_changed(personal_feed: PersonalFeed, channel: Channel) -> datetime:
    """The newest change among the items, and of the personal feed's own settings."""
    return max(channel.updated, personal_feed.changed)
