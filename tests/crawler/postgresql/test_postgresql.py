"""The embedded server: data stays, a kill is survived, and two never share a directory."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from crawler.postgresql import place
from crawler.postgresql.credentials import HOST, Credentials, EmbeddedError
from crawler.postgresql.postgresql import (
    PostgreSQL,
    running_postmaster,
    settle_credentials,
)

# These tests kill processes, not machines: only a machine's end needs fsync.
QUICK = {"fsync": "off", "shared_buffers": "16MB"}


@pytest.fixture
def server(data_dir: Path) -> Iterator[PostgreSQL]:
    server = PostgreSQL(data_dir, QUICK)
    server.start()
    yield server
    server.stop()


def write(server: PostgreSQL, text: str) -> None:
    with psycopg.connect(server.credentials.database_url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS note (text text)")
        connection.execute("INSERT INTO note VALUES (%s)", (text,))


def read(server: PostgreSQL) -> list[str]:
    with psycopg.connect(server.credentials.database_url) as connection:
        return [row[0] for row in connection.execute("SELECT text FROM note ORDER BY text")]


def until_gone(pid: int, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":  # dead; nobody waited for it yet
            return True
        time.sleep(0.02)
    return False


def test_it_keeps_data_between_runs(server: PostgreSQL) -> None:
    write(server, "first run")
    server.stop()
    again = PostgreSQL(server.data_dir, QUICK)
    again.start()
    try:
        assert read(again) == ["first run"]
    finally:
        again.stop()


def test_it_recovers_what_was_committed_before_a_kill(server: PostgreSQL) -> None:
    write(server, "committed")
    assert server.process is not None
    server.process.kill()
    server.process.wait()
    assert (server.cluster / "postmaster.pid").exists()
    server.recover()
    assert read(server) == ["committed"]


def test_it_starts_though_the_stale_pid_file_names_a_living_stranger(server: PostgreSQL) -> None:
    write(server, "kept")
    assert server.process is not None
    server.process.kill()
    server.process.wait()
    pid_file = server.cluster / "postmaster.pid"
    stale = pid_file.read_text().split("\n", 1)
    pid_file.write_text(f"{os.getpid()}\n{stale[1]}")
    assert running_postmaster(server.cluster) is None
    server.recover()
    assert read(server) == ["kept"]


def test_a_second_server_on_the_same_directory_is_refused(server: PostgreSQL) -> None:
    with pytest.raises(EmbeddedError, match="another Freshet is running"):
        PostgreSQL(server.data_dir, QUICK).start()
    write(server, "undisturbed")
    assert read(server) == ["undisturbed"]


def test_it_ends_when_its_owner_is_killed(data_dir: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from crawler.postgresql.postgresql import PostgreSQL\n"
        f"server = PostgreSQL(Path(sys.argv[1]), {QUICK!r}); server.start()\n"
        "print(server.process.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(data_dir)], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        postmaster = int(owner.stdout.readline())
        owner.send_signal(signal.SIGKILL)
    assert until_gone(postmaster)


def test_an_orphan_on_the_cluster_is_ended_before_the_next_start(server: PostgreSQL) -> None:
    write(server, "from the orphan")
    assert server.process is not None and server._lock is not None
    server._lock.close()  # as if the owner were gone and the kernel had not told the server
    again = PostgreSQL(server.data_dir, QUICK)
    again.start()
    try:
        assert server.process.wait(5) == 0
        assert read(again) == ["from the orphan"]
    finally:
        again.stop()


def test_a_wrong_password_is_refused(standing_server: PostgreSQL) -> None:
    known = standing_server.credentials
    for user in ("postgres", "freshet", "broker"):
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(host=HOST, port=known.port, user=user, password="guess", dbname="postgres")


def test_the_brokers_role_cannot_open_freshets_database(standing_server: PostgreSQL) -> None:
    known = standing_server.credentials
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(host=HOST, port=known.port, user="broker", password=known.broker, dbname="freshet")


def test_secrets_are_readable_by_their_owner_only(standing_server: PostgreSQL) -> None:
    assert (standing_server.data_dir / "embedded.json").stat().st_mode & 0o777 == 0o600
    assert standing_server.cluster.stat().st_mode & 0o077 == 0


def test_a_port_that_a_stranger_took_is_replaced_and_passwords_stay(data_dir: Path) -> None:
    assert settle_credentials(data_dir)
    first = Credentials.read(data_dir)
    assert first is not None
    with socket.socket() as stranger:
        stranger.bind((HOST, first.port))
        stranger.listen()
        assert settle_credentials(data_dir)
        second = Credentials.read(data_dir)
    assert second is not None and second.port != first.port
    assert replace(second, port=first.port) == first
    assert not settle_credentials(data_dir)


@pytest.mark.skipif(
    os.geteuid() != 0, reason="only root needs a copy: others run the wheel's binaries in place"
)
def test_root_runs_a_copy_of_binaries_that_others_cannot_reach(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach = place.traversable
    monkeypatch.setattr(place, "traversable", lambda path: "pginstall" not in str(path) and reach(path))
    server = PostgreSQL(data_dir, QUICK)
    server.start()
    try:
        assert server.binaries.is_relative_to(data_dir)
        write(server, "from the copy")
        assert read(server) == ["from the copy"]
    finally:
        server.stop()


def test_a_refused_second_start_leaves_the_port_of_the_first(server: PostgreSQL, tmp_path: Path) -> None:
    """Issue 56: by another path the first was not recognised, and its port was replaced all the same."""
    known = Credentials.read(server.data_dir)
    link = tmp_path / "link"
    link.symlink_to(server.data_dir)
    with pytest.raises(EmbeddedError, match="another Freshet is running"):
        PostgreSQL(link, QUICK).start()
    assert Credentials.read(server.data_dir) == known
    assert place.real_path(link) == server.data_dir.resolve()


def test_recovery_keeps_the_port_whatever_the_file_says(server: PostgreSQL) -> None:
    write(server, "kept")
    port = server.credentials.port
    server.credentials.moved().keep(server.data_dir)
    assert server.process is not None
    server.process.kill()
    server.process.wait()
    server.recover()
    assert server.credentials.port == port
    assert read(server) == ["kept"]


def test_nobody_else_can_hold_the_lock(server: PostgreSQL) -> None:
    assert (server.data_dir / "lock").stat().st_mode & 0o777 == 0o600
