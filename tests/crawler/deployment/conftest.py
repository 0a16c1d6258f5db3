"""Directories and servers, as the embedded server's tests have them."""

from tests.crawler.embedded.conftest import data_dir, standing_server

__all__ = ["data_dir", "standing_server"]
