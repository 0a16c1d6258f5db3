"""The transform phase: a document of any detected type becomes triples; pure, no network, no database."""
