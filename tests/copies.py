"""Copies of what `migrate` has made once, for tests whose subject is what comes after it."""

from __future__ import annotations

import os
import subprocess

from crawler.embedded.postgresql import MAJOR, binaries_of


def pour(source: str, target: str) -> None:
    """Copy all tables and rows of the database at one address into the empty one at another."""
    programs = binaries_of(MAJOR)
    assert programs is not None
    environment = {**os.environ, "LD_LIBRARY_PATH": str(programs.parent / "lib")}
    # Owners and comments stay out: the role at the target may differ, and owns no extension.
    dumped = subprocess.run(
        [programs / "pg_dump", "--no-owner", "--no-privileges", "--no-comments", "--schema=public", source],
        env=environment, capture_output=True, check=True,
    )  # fmt: skip
    known = dumped.stdout.replace(b"CREATE SCHEMA public;", b"")  # an empty database has it
    known = known.replace(b"SET transaction_timeout = 0;", b"")  # PostgreSQL 16 does not know it
    poured = subprocess.run(
        [programs / "psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "-1", target],
        input=known, env=environment, capture_output=True, check=False,
    )  # fmt: skip
    assert poured.returncode == 0, poured.stderr
