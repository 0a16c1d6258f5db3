"""Copies of what `migrate` has made once, for tests whose subject is what comes after it."""

from __future__ import annotations

import os
import subprocess

from crawler.postgresql.postgresql import MAJOR, binaries_of


def dumped(source: str, *options: str) -> bytes:
    """Return the statements that make all tables and rows of the database at an address."""
    # Owners and comments stay out: the role at the target may differ, and owns no extension.
    without = ("--no-owner", "--no-privileges", "--no-comments")
    made = _run("pg_dump", *without, "--schema=public", *options, source)
    made = made.replace(b"CREATE SCHEMA public;", b"")  # an empty database has it
    return made.replace(b"SET transaction_timeout = 0;", b"")  # PostgreSQL 16 does not know it


def pour(statements: bytes, target: str) -> None:
    """Make what was dumped in the empty database at an address."""
    _run("psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "-1", target, given=statements)


def _run(program: str, *arguments: str, given: bytes = b"") -> bytes:
    folder = binaries_of(MAJOR)
    assert folder is not None
    done = subprocess.run(
        [folder / program, *arguments], input=given, capture_output=True, check=False,
        env={**os.environ, "LD_LIBRARY_PATH": str(folder.parent / "lib")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
