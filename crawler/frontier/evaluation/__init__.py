"""Comparison of strategies on recorded links."""
