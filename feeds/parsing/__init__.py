"""Feeds from hostile bytes: RSS, Atom and JSON Feed to the records of crawler.messages, without I/O."""

from feeds.parsing.discover import feed_links
from feeds.parsing.fingerprints import compare, fingerprints, merged
from feeds.parsing.limits import FeedError, Limits
from feeds.parsing.parse import parse_feed
from feeds.parsing.sniff import looks_like_html

__all__ = [
    "FeedError",
    "Limits",
    "compare",
    "feed_links",
    "fingerprints",
    "looks_like_html",
    "merged",
    "parse_feed",
]
