"""The pages about watched sites."""
