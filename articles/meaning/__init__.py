"""Articles found by meaning: their vectors from an embeddings endpoint, if there is one, and the nearest."""
