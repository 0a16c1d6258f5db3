"""Which pages of a site are fetched, and what a fetch changes."""
