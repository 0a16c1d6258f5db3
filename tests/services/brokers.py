"""A place of its own on a Redis or RabbitMQ that belongs to somebody else, left as it was found."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from kombu import Connection
from redis import Redis, RedisError

REDIS_URL = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379")
AMQP_URL = os.environ.get("TEST_AMQP_URL", "amqp://guest:guest@127.0.0.1:5672//")
QUEUES = (
    "tick", "fetch", "store", "enrich", "recrawl", "later", "index", "extract", "detect", "transform",
)  # fmt: skip
CLAIM = "freshet-test"


@contextmanager
def redis_database() -> Iterator[str]:
    """The URL of an empty database number, emptied again at the end."""
    base = REDIS_URL.rstrip("/")
    for number in range(14, 0, -1):
        url = f"{base}/{number}"
        with Redis.from_url(url, socket_timeout=5) as client:
            try:
                mine = client.dbsize() == 0 and client.set(CLAIM, "1", nx=True)
            except RedisError as error:
                pytest.skip(f"Redis at {REDIS_URL} does not answer: {error}")
            if mine:
                try:
                    yield url
                finally:
                    client.flushdb()
                return
    pytest.skip(f"Redis at {REDIS_URL} has no empty database between 1 and 14")


@contextmanager
def rabbitmq_vhost() -> Iterator[str]:
    """The URL of a virtual host made for this; where that is not allowed, queues in the one given."""
    link = Connection(AMQP_URL, connect_timeout=3)
    try:
        with link:
            link.connect()
    except (OSError, *link.connection_errors) as error:
        pytest.skip(f"RabbitMQ at {AMQP_URL} does not answer: {error}")
    parts = urlsplit(AMQP_URL)
    name = f"freshet-test-{uuid.uuid4().hex}"
    if not _rabbitmqctl("add_vhost", name):
        with _queues_of_its_own(AMQP_URL):
            yield AMQP_URL
        return
    try:
        user = unquote(parts.username or "guest")
        assert _rabbitmqctl("set_permissions", "-p", name, user, ".*", ".*", ".*")
        yield parts._replace(path=f"/{name}").geturl()
    finally:
        _rabbitmqctl("delete_vhost", name)


def _rabbitmqctl(*command: str) -> bool:
    """Whether the server of this machine did it; nobody but root may ask it."""
    local = urlsplit(AMQP_URL).hostname in {"127.0.0.1", "localhost", "::1"}
    if not local or os.geteuid() != 0 or shutil.which("rabbitmqctl") is None:
        return False
    return subprocess.run(["rabbitmqctl", "-q", *command], capture_output=True, check=False).returncode == 0


@contextmanager
def _queues_of_its_own(url: str) -> Iterator[None]:
    """Queues that nobody else has declared there, deleted at the end."""
    with Connection(url) as link:
        for queue in QUEUES:
            channel: Any = link.channel()
            try:
                with channel:
                    channel.queue_declare(queue, passive=True)
            except link.channel_errors:
                continue
            pytest.skip(f"{url} has a queue {queue!r}, so somebody's crawler may be running there")
    try:
        yield
    finally:
        with Connection(url) as link:
            channel = link.channel()
            for queue in QUEUES:
                channel.queue_delete(queue)
