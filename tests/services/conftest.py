"""A database and a broker for each test, on the machine's own servers."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from tests.servers import Reply, WebServer, article, rss
from tests.services.brokers import rabbitmq_vhost, redis_database
from tests.services.deployment import Deployment, environment, manage

DATABASE_URL = os.environ.get("TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1/")
BROKERS: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "Redis": redis_database,
    "RabbitMQ": rabbitmq_vhost,
}
FEEDS, ENTRIES = 12, 2


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database that `manage.py migrate` has made; each test works in a copy of its own."""
    with _created() as name:
        data = str(tmp_path_factory.mktemp("migrate"))
        manage(environment({"DATABASE_URL": _url(name), "DATA_DIR": data}), "migrate", "-v", "0")
        yield name


@pytest.fixture
def database_url(template: str) -> Iterator[str]:
    with _created(template) as name:
        yield _url(name)


@pytest.fixture
def empty_database() -> Iterator[str]:
    """One that nobody has migrated."""
    with _created() as name:
        yield _url(name)


@pytest.fixture
def rows() -> Callable[[str, str], list[tuple[object, ...]]]:
    """What a database answers."""

    def ask(url: str, query: str) -> list[tuple[object, ...]]:
        with psycopg.connect(url) as connection:
            return connection.execute(query.encode()).fetchall()

    return ask


@pytest.fixture(params=BROKERS)
def broker_url(request: pytest.FixtureRequest) -> Iterator[str]:
    with BROKERS[request.param]() as url:
        yield url


Deploy = Callable[..., Deployment]


@pytest.fixture
def deploy(broker_url: str, database_url: str, tmp_path: Path) -> Deploy:
    """Prepare a deployment; settings are given as in the environment."""

    def prepare(**settings: str) -> Deployment:
        return Deployment(database_url, broker_url, tmp_path, **settings)

    return prepare


@pytest.fixture
def sites() -> Iterator[list[WebServer]]:
    """Sites with one feed and its articles' pages each, at addresses of their own."""
    with ExitStack() as stack:
        yield [stack.enter_context(_site(f"127.0.9.{number + 1}")) for number in range(FEEDS)]


def _site(host: str) -> WebServer:
    """Everything takes a moment, so that two requests at once would be seen."""
    site = WebServer(host=host)
    feed = rss(site.origin, range(ENTRIES))
    site.replies["/feed"] = Reply(feed, headers={"ETag": '"1"', "Content-Type": "text/xml"}, seconds=0.05)
    for number in range(ENTRIES):
        page = Reply(article(number), headers={"Content-Type": "text/html"}, seconds=0.05)
        site.replies[f"/page{number}"] = page
    return site


class _created:
    """A database of the machine's server, empty or a copy, dropped at the end."""

    def __init__(self, template: str = "template1") -> None:
        self._template = template
        self._name = f"freshet_test_{uuid.uuid4().hex}"

    def __enter__(self) -> str:
        try:
            self._tell("CREATE DATABASE {} TEMPLATE {}", self._name, self._template)
        except psycopg.OperationalError as error:
            pytest.skip(f"PostgreSQL at {DATABASE_URL} does not answer: {error}")
        return self._name

    def __exit__(self, *_: object) -> None:
        self._tell("DROP DATABASE {} WITH (FORCE)", self._name)

    def _tell(self, command: str, *names: str) -> None:
        with psycopg.connect(_url("postgres"), autocommit=True, connect_timeout=3) as connection:
            connection.execute(sql.SQL(command).format(*map(sql.Identifier, names)))


def _url(name: str) -> str:
    return urlsplit(DATABASE_URL)._replace(path=f"/{name}").geturl()
