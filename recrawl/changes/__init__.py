"""What changed on watched pages, and who has seen it."""
