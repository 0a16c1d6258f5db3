"""The pipeline: documents of any kind become a graph that can be asked (Harth, Umbrich, Decker 2006)."""
