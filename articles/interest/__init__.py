"""Interests of subscribers, learned from their actions and explained for each item."""
