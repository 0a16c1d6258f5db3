"""Adding feeds: addresses, discovery, lists in OPML."""
