"""Directories and servers, as the embedded server's tests have them, and one whose tables are made."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.management.commands.run import static_fingerprint
from crawler.postgresql.credentials import Credentials
from crawler.postgresql.postgresql import PostgreSQL
from tests.copies import pour
from tests.crawler.postgresql.conftest import data_dir, open_directory, standing_server

__all__ = ["data_dir", "standing_server"]


@pytest.fixture(scope="session")
def migrated_cluster(migrated_tables: bytes) -> Iterator[Path]:
    """A data directory whose server rests and whose tables are made, to copy; one a worker, in a second."""
    with open_directory() as path:
        server = PostgreSQL(path, {"fsync": "off", "shared_buffers": "16MB"})
        server.start()
        try:
            pour(migrated_tables, server.credentials.database_url)
        finally:
            server.stop()
        yield path


@pytest.fixture
def migrated_dir(migrated_cluster: Path, data_dir: Path) -> Path:
    """A data directory of a product that has run and has nothing to migrate; its server's port is its own."""
    subprocess.run(["cp", "-a", migrated_cluster / "postgresql", data_dir], check=True)  # with its owner
    known = Credentials.read(migrated_cluster)
    assert known is not None
    known.moved().keep(data_dir)
    return data_dir


@pytest.fixture
def home(data_dir: Path) -> Path:
    """A data directory whose static files count as collected: compressing them takes seconds."""
    static = data_dir / "static"
    static.mkdir()
    (static / ".stamp").write_text(static_fingerprint())
    (static / "hello.txt").write_text("hello")
    (static / "staticfiles.json").write_text('{"version": "1.1", "paths": {}, "hash": ""}')
    return data_dir


@pytest.fixture
def migrated_home(home: Path, migrated_dir: Path) -> Path:
    """A data directory as above, of a product that has run before: migrating takes ten seconds."""
    assert home == migrated_dir
    return home
