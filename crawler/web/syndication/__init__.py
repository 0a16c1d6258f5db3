"""Publishing of feeds: one item model, a writer for each format, and the HTTP response."""
