"""Feeds from hostile bytes: RSS, Atom and JSON Feed to the records of reading.documents, without I/O."""

from crawler.reading.feeds.discover import declared_feeds, feed_links
from crawler.reading.feeds.fingerprints import compare, fingerprints, merged
from crawler.reading.feeds.opinion import opinion_of
from crawler.reading.feeds.parse import parse_feed
from crawler.reading.feeds.sniff import looks_like_html

__all__ = [
    "compare",
    "declared_feeds",
    "feed_links",
    "fingerprints",
    "looks_like_html",
    "merged",
    "opinion_of",
    "parse_feed",
]
