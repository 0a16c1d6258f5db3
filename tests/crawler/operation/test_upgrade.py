"""Data of an older PostgreSQL: refused with a sentence at the start, taken over by a command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from crawler.postgresql.credentials import EmbeddedError
from crawler.postgresql.postgresql import MAJOR, PostgreSQL, binaries_of, major_of

ROOT = Path(__file__).resolve().parents[3]
OLDER = next((major for major in ("17", "16", "15", "14") if binaries_of(major)), "")
UNSAFE = {"fsync": "off"}


@pytest.fixture
def data_dir() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="freshet-upgrade-"))
    directory.chmod(0o711)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


def freshet(data_dir: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env={**kept, "DATA_DIR": str(data_dir), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_unknown_version_is_refused_in_a_sentence_that_says_what_to_do(data_dir: Path) -> None:
    (data_dir / "postgresql").mkdir()
    (data_dir / "postgresql" / "PG_VERSION").write_text("9\n")
    with pytest.raises(EmbeddedError, match=f"PostgreSQL 9's, and this Freshet brings {MAJOR}: `freshet upg"):
        PostgreSQL(data_dir, UNSAFE).start()
    done = freshet(data_dir, "upgrade_database")
    assert done.returncode == 1
    assert "the programs of PostgreSQL 9 are not here" in done.stderr
    assert major_of(data_dir) == "9"


@pytest.mark.parametrize("version", ["", MAJOR])
def test_there_is_nothing_to_do_for_data_of_this_version(version: str, data_dir: Path) -> None:
    if version:
        (data_dir / "postgresql").mkdir()
        (data_dir / "postgresql" / "PG_VERSION").write_text(f"{version}\n")
    done = freshet(data_dir, "upgrade_database")
    assert (done.returncode, done.stderr) == (0, "")
    assert "nothing to do" in done.stdout


def test_a_database_of_ones_own_is_left_to_its_own_tools(data_dir: Path) -> None:
    done = freshet(data_dir, "upgrade_database", DATABASE_URL="postgresql://a@127.0.0.1:1/a")
    assert done.returncode == 1
    assert "its own tools upgrade it" in done.stderr


@pytest.mark.services
@pytest.mark.skipif(not OLDER, reason="no older PostgreSQL is installed")
def test_data_of_an_older_postgresql_is_taken_over(data_dir: Path) -> None:
    programs = binaries_of(OLDER)
    assert programs is not None
    old = PostgreSQL(data_dir, UNSAFE, older=(int(OLDER), programs))
    old.start()
    url = old.credentials.database_url
    assert freshet(data_dir, "migrate", "-v0", DATABASE_URL=url).returncode == 0
    added = freshet(data_dir, "add_feeds", "https://example.org/feed.xml", DATABASE_URL=url)
    assert added.returncode == 0, added.stderr
    old.stop()
    with pytest.raises(EmbeddedError, match=f"this data is PostgreSQL {OLDER}'s"):
        PostgreSQL(data_dir, UNSAFE).start()

    done = freshet(data_dir, "upgrade_database")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (data_dir / f"postgresql-{OLDER}").exists()
    assert major_of(data_dir) == MAJOR
    new = PostgreSQL(data_dir, UNSAFE)
    new.start()
    try:
        with psycopg.connect(new.credentials.database_url) as connection:
            assert connection.execute("SELECT url FROM feeds_feed").fetchall() == [
                ("https://example.org/feed.xml",)
            ]
    finally:
        new.stop()


@pytest.mark.services
@pytest.mark.skipif(not OLDER, reason="no older PostgreSQL is installed")
def test_a_backup_that_cannot_be_restored_leaves_the_old_data_in_its_place(data_dir: Path) -> None:
    programs = binaries_of(OLDER)
    assert programs is not None
    old = PostgreSQL(data_dir, UNSAFE, older=(int(OLDER), programs))
    old.start()  # without tables: there is nothing that a backup could hold
    old.stop()
    done = freshet(data_dir, "upgrade_database")
    assert done.returncode == 1
    assert major_of(data_dir) == OLDER


def test_an_upgrade_that_was_cut_between_its_last_steps_makes_no_empty_database(data_dir: Path) -> None:
    (data_dir / "postgresql-17").mkdir()
    (data_dir / "postgresql-17" / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedError, match="an upgrade that was cut short: rename it"):
        PostgreSQL(data_dir, UNSAFE).start()
    assert not (data_dir / "postgresql").exists()
