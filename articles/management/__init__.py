"""Commands of articles."""
