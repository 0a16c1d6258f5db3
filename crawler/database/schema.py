"""The tables of a new database, made at once from what all migrations together make.

180 migrations take 9 to 27 seconds, three quarters of a first start; these statements take half a second. The
file holds what they made when it was written (`make schema`), migrations that came since run after it, and a
test compares the two ways (tests/crawler/test_schema.py).
"""

from __future__ import annotations

import gzip
from pathlib import Path

from django.db import connection

FILE = Path(__file__).with_name("schema.sql.gz")


def load() -> None:
    """Make the tables in the empty database of this process, which is of the PostgreSQL of the file.

    All or nothing.
    """
    with connection.cursor() as cursor:
        cursor.connection.execute(gzip.decompress(FILE.read_bytes()))
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # what was set is of its connections
