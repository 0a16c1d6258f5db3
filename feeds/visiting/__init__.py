"""When feeds are visited, and what a visit changes."""
