"""Kinds of sources: what stands at an address that is followed."""

FEED, SITEMAP, PAGE, DATA, MAIL = "feed", "sitemap", "page", "json", "mail"
SAVED = "saved"
"""The kind of the feed that holds the pages which one person saved; it is no source and is in no list."""
FETCHED = (FEED, SITEMAP, PAGE, DATA)
"""Kinds that are fetched from their address."""
LISTS = frozenset({PAGE, DATA})
"""Kinds whose entries are chosen by rules."""
NEWS_FORMAT, PLAIN_FORMAT = "news sitemap", "sitemap"
SITEMAP_FORMATS = frozenset({NEWS_FORMAT, PLAIN_FORMAT})
