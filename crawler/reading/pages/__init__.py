"""Article pages from hostile bytes to the record of reading.documents, without I/O."""

from crawler.reading.pages.extract import extract_page

__all__ = ["extract_page"]
