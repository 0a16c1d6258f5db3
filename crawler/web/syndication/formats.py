"""The output formats by their names in addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crawler.web.syndication import atom, json_feed, rss
from crawler.web.syndication.item import Channel, Item


@dataclass(frozen=True, slots=True)
class Format:
    """A format in which to write a channel and its items."""

    title: str
    content_type: str
    write: Callable[[Channel, Sequence[Item]], bytes]


FORMATS = {
    "rss": Format("RSS 2.0", rss.CONTENT_TYPE, rss.write_rss),
    "atom": Format("Atom 1.0", atom.CONTENT_TYPE, atom.write_atom),
    "json": Format("JSON Feed 1.1", json_feed.CONTENT_TYPE, json_feed.write_json_feed),
}
