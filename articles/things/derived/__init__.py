"""Graphs computed from what was read: people, stories by week, and sites' links to each other by week."""
