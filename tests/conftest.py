"""One embedded PostgreSQL for the whole test session, where no DATABASE_URL is given.

pytest-django reads the settings before any conftest is loaded, so the server's address goes into the
settings themselves as well as into the environment, from where xdist's workers and subprocesses take it.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.commands import flush
from django.db import connections
from django.db.backends.postgresql.operations import DatabaseOperations
from psycopg import sql
from pytest_django.plugin import DjangoDbBlocker
from xdist.scheduler import LoadFileScheduling

from crawler import environment
from crawler.postgresql.postgresql import PostgreSQL
from crawler.web import deadline
from tests.copies import dumped

HERE = Path(__file__).parent

# A test's data may be lost with the machine.
UNSAFE_BUT_FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_wal_size": "1GB",
    "autovacuum": "off",
    "jit": "off",
}

# Playwright leaves an event loop running in the main thread for the rest of the session.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

KEPT = ("django_content_type", "auth_permission")

# Begun first: those that wait for processes beside those that compute, and no worker still has a long file
# when the others are done.
LONG = (
    "services", "browser", "crawler/postgresql", "crawler/operation", "hostile", "benchmarks", "", "recrawl",
    "crawler/terminals", "crawler/frontier", "crawler/pipeline", "feeds/replay",
)  # fmt: skip

APART = {
    f"tests/crawler/{name}.py"
    for name in (
        "operation/test_backups",
        "operation/test_run",
        "postgresql/test_waiting",
        "postgresql/test_broker",
    )
}
"""Files whose tests each take seconds, wait more than they compute, and share at most a server that starts in
one: these go to the workers one by one."""

DATABASE = {"db", "transactional_db", "django_db", "django_db_setup", "live_server"}
"""Fixtures and the mark of tests that use the database."""

_session_server: PostgreSQL | None = None


def _start_session_server() -> PostgreSQL:
    data_dir = Path(tempfile.mkdtemp(prefix="freshet-test-"))
    data_dir.chmod(0o711)  # under root the server runs as another user and must reach its directory
    server = PostgreSQL(data_dir, UNSAFE_BUT_FAST)
    server.start()
    with server.connect("template1") as connection:  # Freshet's role may not create it in tests' databases
        connection.execute("CREATE EXTENSION vector")
    os.environ["DATABASE_URL"] = url = server.credentials.database_url
    settings.DATABASE_URL = url
    database = connections.databases["default"]
    address = environment.database("DATABASE_URL", url)
    database["TEST"] |= address.pop("TEST")
    database |= address
    with contextlib.suppress(AttributeError):  # a wrapper of the backend that was configured before
        del connections["default"]
    return server


def _own_data_directory() -> Path:
    """Keep what tests write apart from a product that runs in this clone."""
    directory = Path(tempfile.mkdtemp(prefix="freshet-test-data-"))
    os.environ["DATA_DIR"] = str(directory)
    settings.DATA_DIR = directory
    settings.STATIC_ROOT = directory / "static"
    return directory


_session_data_dir = _own_data_directory()
if not os.environ.get("DATABASE_URL"):
    _session_server = _start_session_server()


def _deletions(self: DatabaseOperations, style: object, tables: Iterable[str], **_: object) -> list[str]:
    """A flush in some milliseconds: few of the tables that it would truncate have rows.

    What migrations tell of the models stays: Django would only write it again.
    """
    emptied = [self.quote_name(table) for table in tables if table not in KEPT]
    return ["; ".join(f"DELETE FROM {table}" for table in emptied)]


def pytest_configure(config: pytest.Config) -> None:
    """Cheap passwords and flushes, no collected static files, and a broker that reaches nobody's workers."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.WHITENOISE_AUTOREFRESH = True  # no collected files to index
    if not os.environ.get("CELERY_BROKER_URL"):
        settings.CELERY_BROKER_URL = "memory://"
        settings.CELERY_BROKER_TRANSPORT_OPTIONS = {}
    DatabaseOperations.sql_flush = _deletions
    flush.emit_post_migrate_signal = lambda *_: None  # what it would have written is KEPT
    hypothesis.settings.register_profile("untimed", hypothesis.settings(), deadline=None)  # cores are busy
    hypothesis.settings.load_profile("untimed")
    deadline.MAX_SEARCH_SECONDS = 10.0  # the tests of the limit set their own; elsewhere it is no subject


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Name the test that leaves a time limit on the connection, and lift it: the next one is innocent."""
    yield
    raw = connections["default"].connection
    if raw is None or raw.closed:
        return
    raw.rollback()
    (limit,) = raw.execute("SHOW statement_timeout").fetchone()
    if limit != "0":
        warnings.warn(f"{item.nodeid} left a statement_timeout of {limit}", stacklevel=1)
        raw.execute("RESET statement_timeout")
    if not raw.autocommit:
        raw.commit()  # a rollback would bring the limit back


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are numbered: gzip notes the time in them, and all workers must give a test the same name."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the database, and order the files: long ones first, else as pytest-django wants it.

    CI runs the marked ones on the machine's PostgreSQL as well; the others know no server, and running all
    of them twice was a third of its time.
    """
    for item in items:
        if DATABASE & {*getattr(item, "fixturenames", ()), *(mark.name for mark in item.iter_markers())}:
            item.add_marker("database")
    first = [HERE / directory for directory in LONG]
    items.sort(key=lambda item: first.index(item.path.parent) if item.path.parent in first else len(first))


def pytest_collection_finish() -> None:
    """Keep what was collected, some 900 MB, out of every later collection of garbage."""
    gc.collect()
    gc.freeze()


def made_once(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """Return the file that says that something is done, in the directory that all workers have in common."""
    folder = tmp_path_factory.getbasetemp()
    return (folder.parent if os.environ.get("PYTEST_XDIST_WORKER") else folder) / f"{name}.done"


@contextlib.contextmanager
def once_a_run(tmp_path_factory: pytest.TempPathFactory, name: str) -> Iterator[Path | None]:
    """Yield a file to make when something is done, to the first of the workers; None to those after it.

    The others wait meanwhile, so that it is done when this returns.
    """
    done = made_once(tmp_path_factory, name)
    with done.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield None if done.exists() else done


RUN_WITHIN = "FRESHET_TEST_RUN"
"""A variable that names a run of pytest within another on its server, whose databases it leaves alone."""

_MIGRATED = "_".join(
    [
        environment.TEST_DATABASE_PREFIX + connections.databases["default"]["NAME"],
        *filter(None, [os.environ.get(RUN_WITHIN)]),
        "migrated",
    ]
)


def _on_the_server(*statements: str) -> None:
    """Execute statements outside of all databases of tests; a `{}` stands for the migrated one."""
    address = connections.databases["default"]
    with psycopg.connect(
        host=address["HOST"], port=address["PORT"], user=address["USER"], password=address["PASSWORD"],
        dbname="postgres", autocommit=True,
    ) as server:  # fmt: skip
        for statement in statements:
            server.execute(sql.SQL(statement).format(sql.Identifier(_MIGRATED)))


@pytest.fixture(scope="session")
def migrated(
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """The name of a database that `migrate` has made once for the whole run, to copy: nobody works in it."""
    name = _MIGRATED
    with once_a_run(tmp_path_factory, "migrated") as done:
        if done is None:
            return name
        _on_the_server("DROP DATABASE IF EXISTS {} WITH (FORCE)", "CREATE DATABASE {}")
        connection = connections["default"]
        before = connection.settings_dict["NAME"]
        with django_db_blocker.unblock():
            connection.close()
            connection.close_pool()
            connection.settings_dict["NAME"] = name
            try:
                call_command("migrate", interactive=False, verbosity=0)
                call_command("createcachetable", verbosity=0)
            finally:
                connection.close()
                connection.close_pool()  # who is connected to it keeps it from being copied
                connection.settings_dict["NAME"] = before
        done.touch()
    return name


@pytest.fixture(scope="session")
def migrated_tables(migrated: str, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The statements that make in an empty database what `migrate` makes, asked for once a run."""
    with once_a_run(tmp_path_factory, "tables") as done:
        if done is not None:
            copy, (address, _, _) = f"{migrated}_copy", settings.DATABASE_URL.rpartition("/")
            # To be connected to the migrated one itself would keep others from copying it.
            _on_the_server(f"DROP DATABASE IF EXISTS {copy}", f"CREATE DATABASE {copy} TEMPLATE {{}}")
            done.write_bytes(dumped(f"{address}/{copy}"))
            _on_the_server(f"DROP DATABASE {copy}")
    return made_once(tmp_path_factory, "tables").read_bytes()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    request: pytest.FixtureRequest, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """Let each worker's database be a copy of the migrated one: migrations take ten seconds."""
    if not request.config.getoption("reuse_db"):  # one that is there already takes what is missing
        copied = {"TEMPLATE": request.getfixturevalue("migrated"), "MIGRATE": False}
        connections["default"].settings_dict["TEST"].update(copied)


class ByFile(LoadFileScheduling):
    """Gives a file to one worker, so that what its tests share is made once, but for those APART."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return nodeid if file in APART else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile | None:
    """Distribute as ByFile says where `--dist loadfile` is asked for."""
    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(autouse=True)
def choices_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test read what operators chose and the tick, once, not what the one before it left.

    Both are read again after some seconds: a test that counts queries counted one more after a slow moment.
    """
    from crawler.engine import chosen, ticking  # noqa: PLC0415 - their tables need the apps

    for cache, limit in ((chosen, "FRESH_SECONDS"), (ticking, "KEPT_SECONDS")):
        monkeypatch.setattr(cache, limit, 1e9)
        cache.forget()


@pytest.fixture(autouse=True)
def _own_umask() -> Iterator[None]:
    """Commands that keep their files private do so for the rest of their process, which here is shared."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def terminal_on_loopback(settings: Any, tmp_path: Path) -> Iterator[None]:
    """This process as a terminal that may ask loopback addresses, without a pause between requests."""
    from crawler.terminals.client import terminal_client  # noqa: PLC0415 - it reads the settings

    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    settings.FETCH_HOST_SPACING_SECONDS = 0.0
    settings.DATA_DIR = tmp_path
    terminal_client.cache_clear()
    yield
    terminal_client().close()
    terminal_client.cache_clear()


@pytest.fixture
def tried_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed in a crawl or a visit is tried again as often as ever, but without the wait."""
    monkeypatch.setattr("crawler.frontier.decision.RETRY_SECONDS", 0.1)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the server with the session, and remove its files."""
    shutil.rmtree(_session_data_dir, ignore_errors=True)
    if _session_server is None and not hasattr(config, "workerinput"):
        with contextlib.suppress(psycopg.Error):  # nobody may have used the server that was given
            _on_the_server("DROP DATABASE IF EXISTS {} WITH (FORCE)")
    if _session_server is not None:
        connections.close_all()
        _session_server.stop()
        shutil.rmtree(_session_server.data_dir, ignore_errors=True)
