"""The formats by their names in addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crawler.web.syndication import atom, json_feed, rss
from crawler.web.syndication.item import Channel, Item


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a channel and its items."""

    content_type: str
    write: Callable[[Channel, Sequence[Item]], bytes]


FORMATS = {
    "rss": Format(rss.CONTENT_TYPE, rss.write_rss),
    "atom": Format(atom.CONTENT_TYPE, atom.write_atom),
    "json": Format(json_feed.CONTENT_TYPE, json_feed.write_json_feed),
}
