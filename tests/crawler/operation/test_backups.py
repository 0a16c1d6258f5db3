"""Backups: there and back between databases, from an earlier version, damaged, interrupted, refused."""

from __future__ import annotations

import gzip
import io
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any
from unittest import mock

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.test import override_settings
from psycopg import sql
from pytest_django import DjangoDbBlocker

from crawler.environment import TEST_DATABASE_PREFIX
from crawler.management.commands import backup
from tests.copies import pour
from tests.factories import make_article, make_feed, make_user

ROOT = Path(__file__).parents[3]
HEADER = b'{"freshet": 1, "migrations": [["feeds", "0001_squashed"]]}\n'
FEEDS = b'{"table": "feeds_feed", "columns": ["id"]}\n'


class Deployment:
    """A database of its own, with Freshet's commands."""

    def __init__(self, name: str, folder: Path, blocker: DjangoDbBlocker) -> None:
        self.name, self.folder, self.blocker = name, folder, blocker
        folder.mkdir()
        test_url = settings.DATABASES["default"]
        self.address = f"postgresql://{test_url['USER']}:{test_url['PASSWORD']}@{test_url['HOST']}:{test_url['PORT']}/{name}"

    def start(
        self, *arguments: str, stdout: IO[bytes] | int = subprocess.PIPE, **environment: str
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, text=True, stdout=stdout,
            stderr=subprocess.PIPE,
            env={**os.environ, "DATABASE_URL": self.address, "DATA_DIR": str(self.folder), **environment},
        )  # fmt: skip

    def run(self, *arguments: str, **environment: str) -> str:
        """Run a command in a process of its own and return what it printed, on both streams."""
        with self.start(*arguments, **environment) as process:
            out, err = process.communicate(timeout=120)
        return f"{out}{err}"

    def call(self, *arguments: str, **environment: str) -> str:
        """Run a command in this process and return what it printed, and the sentence that it ended with."""
        told = io.StringIO()
        with self.here(**environment):
            try:
                call_command(*arguments, stdout=told, stderr=told)
            except CommandError as error:
                told.write(f"CommandError: {error}")
        return told.getvalue()

    @contextmanager
    def here(self, **environment: str) -> Iterator[None]:
        """Let this process work on the deployment's database and in its folder."""
        known = connections.databases["default"]
        own = override_settings(DATABASE_URL=self.address, DATA_DIR=self.folder)
        variables = {"DATABASE_URL": self.address, **environment}
        with self.blocker.unblock(), own, mock.patch.dict(os.environ, variables):
            connection.close()
            connection.close_pool()
            before, known["NAME"] = known["NAME"], self.name
            try:
                yield
            finally:
                connection.close()
                connection.close_pool()  # a restore is refused while others are connected
                known["NAME"] = before

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.address) as connection:
            return connection.execute(query).fetchall()

    def do(self, *statements: str) -> None:
        with psycopg.connect(self.address) as connection:
            for statement in statements:
                connection.execute(statement)


Made = Callable[..., AbstractContextManager[Deployment]]


@pytest.fixture(scope="module")
def made(migrated: str, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Made:
    """Make a deployment whose database is made for it, and deleted."""

    @contextmanager
    def database(name: str, folder: Path, template: str = "template1") -> Iterator[Deployment]:
        deployment = Deployment(
            f"{TEST_DATABASE_PREFIX}backup_{os.getpid()}_{name}", folder, django_db_blocker
        )
        server = deployment.address.rpartition("/")[0] + "/postgres"
        with psycopg.connect(server, autocommit=True) as admin:
            names = [sql.Identifier(word) for word in (deployment.name, template)]
            admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
            yield deployment
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(names[0]))

    return database


@pytest.fixture(scope="module")
def source(made: Made, migrated: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment with articles and a graph, and its backup in `folder / "one.backup"`."""
    with made("source", tmp_path_factory.mktemp("backups") / "source", migrated) as deployment:
        with deployment.here():
            fill()
        deployment.do(TERMS, QUADS)
        assert deployment.rows("SELECT count(*) FROM articles_article") == [(30,)]
        assert "rows" in deployment.run("backup", str(deployment.folder / "one.backup"))
        yield deployment


@pytest.fixture
def target(made: Made, tmp_path: Path) -> Iterator[Deployment]:
    """A deployment with an empty database."""
    with made("target", tmp_path / "target") as deployment:
        yield deployment


@pytest.fixture
def quick_tables(migrated_tables: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let restores in this process copy the newest tables into an empty database, which migrating would make.

    Those in a process of their own migrate.
    """
    migrate = MigrationExecutor.migrate

    def copied(self: MigrationExecutor, targets: list[tuple[str, str]], *rest: Any, **named: Any) -> Any:
        if "django_migrations" in connection.introspection.table_names():
            return migrate(self, targets, *rest, **named)
        assert set(targets) == set(self.loader.graph.leaf_nodes())
        return pour(migrated_tables, settings.DATABASE_URL)

    monkeypatch.setattr(MigrationExecutor, "migrate", copied)


def fill() -> None:
    make_user("reader")
    feed = make_feed("http://news.example/feed", title="tab\t\\N")
    for n in range(30):
        make_article(feed, title=f"title {n}", text="line\nZwölf", categories=["a,b", "{"])


TERMS = (
    "INSERT INTO pipeline_term (id, mark, kind, lang, datatype, value)"
    " SELECT n, n, 2, 'de', '', 'Zwölf Häuser ' || n FROM generate_series(1, 5000) n"
)
QUADS = "INSERT INTO pipeline_quad SELECT n, 1, n, n % 7 FROM generate_series(1, 5000) n"


def content(path: Path) -> list[bytes]:
    """Return a backup's content behind its header, which has the time."""
    return gzip.decompress(path.read_bytes()).split(b"\n", 1)[1:]


def test_a_backup_comes_back_the_same(
    source: Deployment, target: Deployment, tmp_path: Path, quick_tables: None
) -> None:
    one, two = source.folder / "one.backup", tmp_path / "two.backup"
    assert "whole: " in target.call("restore", "--check", str(one))
    assert one.stat().st_mode & 0o777 == 0o600
    assert "restored" in target.run("restore", str(one))
    target.run("backup", str(two))
    assert content(one) == content(two)
    assert target.rows("SELECT count(*) FROM pipeline_term WHERE words @@ 'haus'") == [(5000,)]
    assert target.rows("SELECT count(*) FROM pg_trigger WHERE tgenabled = 'D'") == [(0,)]
    target.do("INSERT INTO pipeline_quad VALUES (1, 2, 3, 4)")
    assert "something already" in target.call("restore", str(one))
    assert "restored" in target.call("restore", "--replace", str(one))
    assert target.rows("SELECT count(*) FROM pipeline_quad") == [(5000,)]
    with psycopg.connect(target.address):
        assert "1 others use the database" in target.call("restore", "--replace", str(one))


def test_an_encrypted_backup_needs_its_password(
    source: Deployment, target: Deployment, tmp_path: Path, quick_tables: None
) -> None:
    password = tmp_path / "password"
    password.write_text("geheim\nmore\n")
    file = tmp_path / "one.backup"
    source.call("backup", "--password-file", str(password), str(file))
    assert "encrypted" in target.call("restore", str(file))
    assert "password is wrong" in target.call("restore", str(file), FRESHET_BACKUP_PASSWORD="x")
    assert "restored" in target.call("restore", str(file), FRESHET_BACKUP_PASSWORD="geheim")


def test_a_backup_from_before_migrations_were_squashed_is_restored(
    source: Deployment, target: Deployment, tmp_path: Path
) -> None:
    squashed = "DELETE FROM django_migrations WHERE name LIKE '%_squashed' RETURNING app"
    with psycopg.connect(source.address) as connection:
        assert len(connection.execute(squashed).fetchall()) > 10
    file = tmp_path / "old.backup"
    source.run("backup", str(file))
    assert "whole: " in target.run("restore", "--check", str(file))
    assert "restored" in target.run("restore", str(file))
    assert target.rows("SELECT count(*) FROM articles_article") == [(30,)]
    assert "No migrations to apply" in source.run("migrate")
    assert source.rows("SELECT count(*) FROM django_migrations") == target.rows(
        "SELECT count(*) FROM django_migrations"
    )


def test_a_backup_of_an_earlier_version_is_brought_up_to_date(
    made: Made, target: Deployment, tmp_path: Path
) -> None:
    with made("earlier", tmp_path / "earlier") as earlier:
        for app in ("pipeline", "enrichment", "feeds"):
            earlier.run("migrate", app, "0001_squashed", "--verbosity=0")
        earlier.do("DELETE FROM django_migrations WHERE name LIKE '%_squashed'", TERMS)
        assert earlier.rows("SELECT to_regclass('feeds_planningrules')") == [(None,)]
        file = tmp_path / "old.backup"
        earlier.run("backup", str(file))
        assert "whole: " in target.run("restore", "--check", str(file))
        assert "restored" in target.run("restore", str(file))
        assert target.rows("SELECT count(*) FROM pipeline_term") == [(5000,)]
        assert target.rows("SELECT count(*) FROM feeds_planningrules") == [(0,)]


def test_what_is_older_than_the_squashed_migrations_is_refused(target: Deployment, tmp_path: Path) -> None:
    target.run("migrate", "--verbosity=0")
    target.do("DELETE FROM django_migrations WHERE app = 'feeds' AND name >= '0006'")
    file = tmp_path / "old.backup"
    target.run("backup", str(file))
    lacks = "is of a version too old for this one: it lacks feeds.0006_planning_rules"
    for options in (["--check"], ["--replace"]):
        assert f"The backup {lacks}" in target.run("restore", *options, str(file))
    assert f"The database {lacks}" in target.run("migrate")
    assert f"The database {lacks}" in target.run("run")


def test_a_backup_of_a_later_version_is_refused(
    source: Deployment, target: Deployment, tmp_path: Path
) -> None:
    source.do("INSERT INTO django_migrations (app, name, applied) VALUES ('feeds', '9999_later', now())")
    file = tmp_path / "later.backup"
    source.call("backup", str(file))
    source.do("DELETE FROM django_migrations WHERE name = '9999_later'")
    for options in (["--check"], []):
        assert "does not know feeds.9999_later" in target.call("restore", *options, str(file))
    assert target.rows("SELECT to_regclass('feeds_feed')") == [(None,)]


def test_a_damaged_backup_leaves_nothing_that_starts(
    source: Deployment, target: Deployment, tmp_path: Path, quick_tables: None
) -> None:
    whole = (source.folder / "one.backup").read_bytes()
    file = tmp_path / "half.backup"
    file.write_bytes(whole[: len(whole) // 2])
    assert "ends too early" in target.call("restore", "--check", str(file))
    assert "ends too early" in target.call("restore", str(file))
    assert target.rows("SELECT count(*) FROM articles_article") == [(0,)]
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    assert "restore it again" in target.run("run", PORT=str(port), CELERY_BROKER_URL="")
    # A restore that is killed is run again, too.
    ((mark,),) = target.rows("SELECT to_regclass('freshet_unfinished_restore')::oid")
    process = target.start("restore", str(source.folder / "one.backup"))
    while process.poll() is None:  # until it has begun anew, and is amid the migrations
        (found,) = target.rows(
            "SELECT to_regclass('freshet_unfinished_restore')::oid, to_regclass('auth_user')"
        )
        if found[0] not in {None, mark} and found[1]:
            break
        time.sleep(0.1)
    assert process.poll() is None
    process.kill()
    process.communicate()
    for _ in range(100):  # until PostgreSQL has noticed
        if target.rows("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()") == [(1,)]:
            break
        time.sleep(0.1)
    assert "restored" in target.call("restore", str(source.folder / "one.backup"))
    assert target.rows("SELECT count(*) FROM articles_article") == [(30,)]


def test_a_folder_keeps_the_newest(source: Deployment, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    for day in (1, 2, 3):
        (folder / f"freshet-2020-01-0{day}T000000Z.backup").touch()
    (folder / "other.backup").touch()
    source.call("backup", "--keep", "2", str(folder))
    names = sorted(path.name for path in folder.iterdir())
    assert names[0] == "freshet-2020-01-03T000000Z.backup"
    assert len(names) == 3
    assert "need a folder" in source.call("backup", "--keep", "2", str(tmp_path / "file"))
    assert "could not be written" in source.call("backup", str(tmp_path / "nowhere" / "file"))
    assert "could not be written" in source.call("backup", "/dev/full/x")


def test_a_disk_that_fills_is_told_in_a_sentence_and_leaves_nothing(
    source: Deployment, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be made here: it takes root and mount")
    try:
        (disk / "one.backup").write_bytes(b"the one before")
        with source.start("backup", str(disk / "one.backup")) as process:
            _, told = process.communicate(timeout=120)
        assert process.returncode == 1
        assert told.strip() == "CommandError: the backup could not be written: No space left on device"
        assert [path.name for path in disk.iterdir()] == ["one.backup"]
        assert (disk / "one.backup").read_bytes() == b"the one before"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_standard_output_that_takes_no_more_is_told_in_a_sentence(source: Deployment) -> None:
    with open("/dev/full", "wb") as full, source.start("backup", "-", stdout=full) as process:
        _, told = process.communicate(timeout=120)
    assert process.returncode == 1
    assert told.strip() == "CommandError: the backup could not be written: No space left on device"


def test_a_scheduled_backup_that_fails_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = iter(["the disk is full", "the database broke off"])
    pauses: list[float] = []

    def write(*_: object) -> None:
        for sentence in failures:
            raise CommandError(sentence)

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(backup.Command, "_write_one", write)
    monkeypatch.setattr("crawler.management.commands.backup.answering_database", nullcontext)
    monkeypatch.setattr(time, "sleep", pause)
    with pytest.raises(KeyboardInterrupt):
        call_command("backup", str(tmp_path), schedule=24)
    assert [round(seconds / 60) for seconds in pauses] == [10, 10, 24 * 60]
    assert "the database broke off; once more in 10 minutes" in capsys.readouterr().err
    failures = iter(["the disk is full"])
    with pytest.raises(CommandError, match="the disk is full"):
        call_command("backup", str(tmp_path))


@pytest.mark.parametrize(
    ("content_of_file", "sentence"),
    [
        (b"", "ends too early"),
        (b"hello", "no backup of Freshet"),
        (gzip.compress(b"hello\n"), "no backup of Freshet"),
        (gzip.compress(b"[]\n"), "no backup of Freshet"),
        (gzip.compress(b'{"freshet": 99}\n'), "no backup of Freshet"),
        (gzip.compress(b'{"freshet": 1}\n{"end": {}}\n'), "which tables it needs"),
        (gzip.compress(b'{"freshet": 1, "migrations": []}\n{"end": {}}\n'), "which tables it needs"),
        (gzip.compress(b'{"freshet": 1, "migrations": [7]}\n{"end": {}}\n'), "which tables it needs"),
        (gzip.compress(HEADER[:-2] + b', "files": []}\n{"end": {}}\n'), "its files cannot be read"),
        (gzip.compress(HEADER + b'{"table": "x", "columns": []}\n\xff\xff\xff\xff'), "damaged"),
        (gzip.compress(HEADER + b'{"table": "feeds_feed", "columns": [["id"]]}\n'), "which columns"),
        (gzip.compress(HEADER + b'{"table": "feeds_feed", "columns": ["id", "x"]}\n'), "not known here"),
        (
            gzip.compress(HEADER + FEEDS + b"\0\0\0\2" + b"7\n" + bytes(4) + b'{"end": {}}\n'),
            "not all of its",
        ),
        (gzip.compress(HEADER + FEEDS + b"\xff\xff\xff\xff"), "damaged"),
        (gzip.compress(HEADER + b'{"end": {}}\nmore'), "goes on"),
        (gzip.compress(b"[" * 200_000 + b"\n"), "nested too deeply"),
        (gzip.compress(HEADER + b"[" * 200_000 + b"\n"), "nested too deeply"),
    ],
)
def test_what_is_no_backup_is_refused_in_a_sentence(
    tmp_path: Path, content_of_file: bytes, sentence: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content_of_file)
    with pytest.raises(CommandError, match=re.escape(sentence)):
        call_command("restore", "--check", str(file))


@pytest.mark.parametrize("content_of_file", [b"hello", gzip.compress(HEADER + b"[" * 200_000 + b"\n")])
def test_a_refusal_is_a_sentence_and_an_exit_code_without_a_database(
    tmp_path: Path, content_of_file: bytes
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content_of_file)
    ended = subprocess.run(
        [sys.executable, "manage.py", "restore", "--check", str(file)], cwd=ROOT, text=True,
        capture_output=True, check=False, env={**os.environ, "DATABASE_URL": "none"}, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr.startswith("CommandError: ")
    assert "Traceback" not in ended.stderr
