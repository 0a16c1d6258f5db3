"""JSON Feed 1.1 (jsonfeed.org/version/1.1).

The extension `_source` names the feed of an item, `_details` holds what that feed says beside the text.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import to_builtins

from crawler.web.syndication.item import Channel, Item, legal

CONTENT_TYPE = "application/feed+json; charset=utf-8"


def write_json_feed(channel: Channel, items: Sequence[Item]) -> bytes:
    """Write the document in UTF-8; equal channels and items give equal bytes."""
    document = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": channel.title,
        "description": channel.description,
        "home_page_url": channel.home_url,
        "feed_url": channel.self_url,
        "next_url": channel.next_url,
        "hubs": [{"type": "WebSub", "url": channel.hub_url}] if channel.hub_url else [],
        "items": [_item(item) for item in items],
    }
    # On the whole: legal() touches no key and no punctuation, but halves of surrogate pairs must go.
    return legal(json.dumps(_told(document), ensure_ascii=False)).encode()


def _item(item: Item) -> dict[str, Any]:
    out = {
        "id": item.id,
        "url": item.url,
        "title": item.title,
        "content_html": item.content or item.summary or html.escape(item.title, quote=False),
        "date_published": _rfc3339(item.published),
        "date_modified": _rfc3339(item.updated),
        "authors": [{"name": item.author}] if item.author else [],
        "tags": list(item.categories),
        "language": item.language,
        "attachments": [
            _told(
                {
                    "url": media.url,
                    "mime_type": media.type,
                    "title": media.title,
                    "size_in_bytes": media.length,
                    "duration_in_seconds": media.duration,
                }
            )
            for media in item.attachments
        ],
        "image": item.image,
        "external_url": next(iter((*item.details.via, *item.details.related)), ""),
        "_details": to_builtins(item.details),
        "_source": _told(
            {
                "title": item.source.title,
                "feed_url": item.source.feed_url,
                "home_page_url": item.source.site_url,
            }
        ),
    }
    return _told(out)


def _told(values: dict[str, Any]) -> dict[str, Any]:
    """Remove empty values, but keep an empty list of items."""
    return {name: value for name, value in values.items() if value or name == "items"}


def _rfc3339(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
