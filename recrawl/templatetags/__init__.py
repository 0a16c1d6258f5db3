"""Template tags of the pages about watched sites."""
