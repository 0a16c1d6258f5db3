"""Kinds of sources: what stands at an address that is followed."""

FEED, SITEMAP, PAGE, DATA, MAIL = "feed", "sitemap", "page", "json", "mail"
FETCHED = (FEED, SITEMAP, PAGE, DATA)
"""Kinds that are fetched from their address."""
LISTS = frozenset({PAGE, DATA})
"""Kinds whose entries are chosen by rules."""
NEWS_FORMAT, PLAIN_FORMAT = "news sitemap", "sitemap"
SITEMAP_FORMATS = frozenset({NEWS_FORMAT, PLAIN_FORMAT})
