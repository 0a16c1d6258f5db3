"""A directory that the embedded server can use, also when the tests run as root."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawler.postgresql.postgresql import PostgreSQL


@contextmanager
def open_directory() -> Iterator[Path]:
    """An empty directory that every user can pass; pytest's own tmp_path is closed to others."""
    path = Path(tempfile.mkdtemp(prefix="freshet-embedded-"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with open_directory() as path:
        yield path


@pytest.fixture(scope="module")
def standing_server() -> Iterator[PostgreSQL]:
    """One server for the tests of a module that only talk to it."""
    with open_directory() as path:
        server = PostgreSQL(path, {"fsync": "off", "shared_buffers": "16MB"})
        server.start()
        yield server
        server.stop()
