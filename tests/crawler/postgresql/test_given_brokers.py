"""Brokers that people bring themselves, where the machine has them: Redis and RabbitMQ.

A kind that does not answer is not collected, so nothing is skipped and nothing is claimed.
"""

from __future__ import annotations

import socket
import uuid
from pathlib import Path

import pytest
from kombu import Connection
from redis import Redis

from tests.crawler.postgresql.test_broker import TASKS, count, send, wait_for, worker

KNOWN = {
    "Redis": ("redis://127.0.0.1:6379/15", 6379),
    "RabbitMQ": ("amqp://guest:guest@127.0.0.1:5672//", 5672),
}


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


PRESENT = [pytest.param(url, id=name) for name, (url, port) in KNOWN.items() if answers(port)]

if PRESENT:

    @pytest.mark.services
    @pytest.mark.parametrize("url", PRESENT)
    def test_it_carries_tasks(url: str, tmp_path: Path) -> None:
        queue = f"freshet_test_{uuid.uuid4().hex}"
        send(url, tmp_path, seconds=0, queue=queue)
        with worker(url, visibility=600, queue=queue):
            assert wait_for(lambda: count(tmp_path, "done") == TASKS)
        remove(url, queue)


def remove(url: str, queue: str) -> None:
    """Leave nothing behind on a server that is not ours."""
    with Connection(url) as link, link.channel() as channel:
        channel.queue_delete(queue)
    if url.startswith("redis:"):  # kombu keeps the bindings
        with Redis.from_url(url) as client:
            client.delete(*client.keys(f"_kombu.*{queue}"))
