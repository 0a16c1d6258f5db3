"""Enrichment of articles: keywords, category, summary, and story."""
