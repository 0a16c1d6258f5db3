"""Comparing two copies of a page."""
