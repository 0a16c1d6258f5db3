"""The transform phase: a document of any detected type becomes triples; pure, no network, no database."""

from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument, Transformed

__all__ = ["SourceDocument", "Transformed", "transform"]
