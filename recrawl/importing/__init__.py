"""Watches of other programs."""
