"""Article pages from hostile bytes to the record of crawler.messages, without I/O."""

from crawler.reading.pages.errors import ExtractionError
from crawler.reading.pages.extract import extract_page

__all__ = ["ExtractionError", "extract_page"]
