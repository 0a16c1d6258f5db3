"""The pipeline: documents of any kind become a graph that can be queried (Harth, Umbrich, Decker 2006)."""
