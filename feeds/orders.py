"""Orders to terminals about feeds and their hubs."""

from __future__ import annotations

from crawler.messages import Order
from crawler.reading.documents import SourceRules
from crawler.reading.sources.kinds import FEED
from crawler.text.records import Record


class FeedOrder(Record, Order, frozen=True, tag=True):
    """The order to retrieve a feed. `known` are the fingerprints of its entries.

    `is_first` says that nothing was ever received from the address, `wants_opinion` that the feed was never
    read by a second reader. `source` is the kind of source (`crawler.reading.sources`), whose entries `rules`
    choose. `site` is its site's address, where a feed that `is_lost` since long, or gone, may be found anew.
    """

    known: bytes = b""
    subscribers: int = 0
    is_first: bool = False
    wants_opinion: bool = False
    source: str = FEED
    rules: SourceRules = SourceRules()
    site: str = ""
    is_lost: bool = False


class PushOrder(Record, Order, frozen=True, tag=True):
    """The order to read `content`, which a hub sent. `known` are the fingerprints of the feed's entries."""

    known: bytes = b""
    content: bytes = b""
    content_type: str = ""


class HubOrder(Record, Order, frozen=True, tag=True):
    """The order to send a form to a hub."""

    form: bytes = b""
