"""Article pages from hostile bytes to the record of crawler.messages, without I/O."""

from articles.extraction.errors import ExtractionError
from articles.extraction.extract import extract_page

__all__ = ["ExtractionError", "extract_page"]
