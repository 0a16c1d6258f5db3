"""Articles as items of Google Reader, in three queries for any number of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from articles.greader.names import FEED, LABEL, READ, READING_LIST, STARRED, item_id
from articles.greader.streams import microseconds
from articles.models import Article, ArticleQuerySet, Mark, Subscriber
from crawler.web.syndication.item import attachment, full_body, title_of, web_url

REFERENCE = ("id", "feed_id", "published", "fetched")
"""The columns that an item's id and its place in a stream need; none of them is a text."""

_COLUMNS = (
    "id", "url", "title", "author", "category", "categories", "published", "updated", "fetched",
    "summary", "content", "text", "enclosures", "page__content", "feed__title",
    "feed__canonical_url", "feed__site_url",
)  # fmt: skip


def with_texts(articles: ArticleQuerySet) -> ArticleQuerySet:
    """Load the columns that `items_of` needs."""
    return articles.select_related("feed", "page").only(*_COLUMNS)


def references(articles: Sequence[Article]) -> list[dict[str, Any]]:
    """Return the short ids of the articles, with their feeds and times of retrieval."""
    return [
        {
            "id": str(article.pk),
            "directStreamIds": [f"{FEED}{article.feed_id}"],
            "timestampUsec": str(microseconds(article.fetched)),
        }
        for article in articles
    ]


def items_of(subscriber: Subscriber, articles: Sequence[Article]) -> list[dict[str, Any]]:
    """Return whole items, with the subscriber's marks, folders and titles."""
    marks = {
        mark.article_id: mark
        for mark in Mark.objects.filter(subscriber=subscriber, article__in=[row.pk for row in articles])
    }
    feeds = subscriber.subscriptions.filter(feed__in={row.feed_id for row in articles})
    titles_and_folders = {
        key: (title, folder) for key, title, folder in feeds.values_list("feed_id", "title", "folder")
    }
    return [
        _item(article, marks.get(article.pk), *titles_and_folders.get(article.feed_id, ("", "")))
        for article in articles
    ]


def _item(article: Article, mark: Mark | None, own_title: str, folder: str) -> dict[str, Any]:
    feed = article.feed
    body = {
        "direction": "ltr",
        "content": full_body(
            article.content, article.summary, article.text, article.page.content if article.page else ""
        ),
    }
    url = web_url(article.url)
    item: dict[str, Any] = {
        "id": item_id(article.pk),
        "crawlTimeMsec": str(microseconds(article.fetched) // 1000),
        "timestampUsec": str(microseconds(article.fetched)),
        "published": microseconds(article.published) // 1_000_000,
        "updated": microseconds(article.updated) // 1_000_000,
        "title": title_of(article.title, article.text),
        "categories": _categories(article, mark, folder),
        "origin": {
            "streamId": f"{FEED}{article.feed_id}",
            "title": own_title or feed.title or feed.canonical_url,
            "htmlUrl": web_url(feed.site_url),
        },
        # The original had this or `content`; NewsFlash takes both in one item for an error.
        "summary": body,
        # Of an article without an address Fluent Reader needs the one, and NewsFlash the other.
        "canonical": [{"href": url}],
        "alternate": [{"href": url, "type": "text/html"}] if url else [],
    }
    if article.author:
        item["author"] = article.author
    if enclosures := _enclosures(article):
        item["enclosure"] = enclosures
    return item


def _categories(article: Article, mark: Mark | None, folder: str) -> list[str]:
    states = [READING_LIST]
    if mark and mark.read:
        states.append(READ)
    if mark and mark.starred:
        states.append(STARRED)
    labels = {folder} if folder else set()
    states += [f"{LABEL}{label}" for label in sorted(labels.union(mark.labels if mark else ()))]
    # A feed could name one of its categories like a state; then it would be taken for the reader's.
    categories = article.categories or ([article.category] if article.category else [])
    return states + [name for name in categories if not name.startswith("user/")]


def _enclosures(article: Article) -> list[dict[str, Any]]:
    attachments = (attachment(enclosure) for enclosure in article.enclosures)
    return [
        {"href": media.url, "type": media.type} | ({"length": media.length} if media.length else {})
        for media in attachments
        if media is not None
    ]
