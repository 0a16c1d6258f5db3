"""Sources that are no feeds, read as feeds are: lists of articles in pages, sitemaps, lists in JSON. Pure."""
