"""kombu's transport on pgmq, with what kombu 5.7 lacks; docs/notes/broker.md tells kombu's authors.

A worker listens for PostgreSQL's notifications, and looks into its queues every two seconds (as Celery asks),
which also brings messages that became visible. `crawler.celery` registers it as `pgmq`.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from kombu.exceptions import ConnectionError as BrokerConnectionError
from kombu.transport import pgmq as _pgmq
from pgmq import PGMQueue
from psycopg_pool import ConnectionPool

from crawler.isolation.lifeline import ending
from crawler.postgresql.broker import NOTIFY_MILLISECONDS, turn_back

pgmq: Any = _pgmq  # which has no types
FULL_SECONDS, PART_SECONDS = 0.01, 0.25  # between two looks of a full worker, and of a waiting one


class Queues(PGMQueue):  # type: ignore[no-untyped-call]
    """pgmq's client with one statement a call, if it has three with a transaction around it."""

    _transaction_decorator: Any = staticmethod(lambda function: function)


_pools: dict[str, ConnectionPool[Any]] = {}
_lock = threading.Lock()


def _pool_of(dsn: str) -> ConnectionPool[Any]:
    """Return this process's connections to a broker: one, and more while several threads use them.

    The lock keeps two threads that send their first message at once from opening a pool each: the one that
    lost was collected in a thread of its own, which said "cannot join current thread" in the log.
    """
    with _lock:
        if dsn not in _pools:
            _pools[dsn] = ConnectionPool(
                dsn, kwargs={"autocommit": True}, min_size=1, max_size=4, max_idle=30, open=True
            )
        return _pools[dsn]


def _forget_pools() -> None:
    """Forget the pools and the lock of the parent, whose threads are not in a child that was forked."""
    global _lock  # noqa: PLW0603 - a lock that another thread held is never released in the child
    _lock = threading.Lock()
    _pools.clear()


os.register_at_fork(after_in_child=_forget_pools)


def connection_to(dsn: str) -> AbstractContextManager[Any]:
    """Return one of this process's connections to a broker, for a moment. It commits each statement."""
    return _pool_of(dsn).connection()


class QueueChannel(pgmq.Channel):  # type: ignore[misc]
    """A channel that sends a task with an ETA as a hidden message, and leaves queues that exist alone."""

    @property
    def pgmq(self) -> Any:
        """The client. Raises an error where kombu goes on to publish on a channel that it has closed."""
        if self.connection is None:
            raise BrokerConnectionError("the channel to the broker was closed")
        return self.connection._get_pgmq_client()

    def basic_consume(self, queue: str, *arguments: Any, **options: Any) -> Any:
        """Listen to a queue before its first read, so that no message is missed in between."""
        self.connection._get_notify_waiter().register(self._queue_name(queue))
        return super().basic_consume(queue, *arguments, **options)

    def _new_queue(self, queue: str, **options: Any) -> None:
        """Create a queue unless it exists: kombu calls this for every binding, wherever it sends."""
        if not self._is_notified(queue):
            super()._new_queue(queue, **options)

    def _maybe_enable_notify(self, queue: str, queue_name: str | None = None) -> None:
        """Enable notifications unless they are: again would lock the table, and two such calls deadlock."""
        if not self._is_notified(queue):
            self.pgmq.enable_notify(self._queue_name(queue), throttle_interval_ms=NOTIFY_MILLISECONDS)

    def _is_notified(self, queue: str) -> bool:
        return any(
            throttle.queue_name == self._queue_name(queue) for throttle in self.pgmq.list_notify_throttles()
        )

    def _pgmq_send_kwargs(self, message: dict[str, Any]) -> dict[str, Any]:
        options: dict[str, Any] = super()._pgmq_send_kwargs(message)
        eta = (message.get("headers") or {}).get("eta")
        return options | ({"delay": datetime.fromisoformat(eta)} if eta else {})

    def message_to_python(self, raw_message: Any) -> Any:
        """Decode a message without its ETA, which has passed: Celery would run it in its timer's thread."""
        message = super().message_to_python(raw_message)
        message.headers.pop("eta", None)
        return message


class Waiter(pgmq._NotifyWaiter):  # type: ignore[misc]
    """A wait for notifications that ends soon when the worker shall end, and not only after two seconds."""

    def wait(self, timeout: float) -> bool:
        """Return whether there was a notification. Raises TimeoutError in a worker that shall end."""
        until = time.monotonic() + timeout
        while not ending.is_set():
            part = min(PART_SECONDS, until - time.monotonic())
            if part <= 0 or super().wait(part):
                return part > 0
        raise TimeoutError


class Transport(pgmq.Transport):  # type: ignore[misc]
    """A transport whose connections are the process's, and whose full workers look soon again."""

    Channel = QueueChannel

    def _create_pgmq_client(self) -> Queues:
        options = self.client.transport_options
        pool = _pool_of(options["conn_string"])
        pool.timeout = float(options["pool_timeout"])
        return Queues(init_extension=False, vt=int(options["visibility_timeout"]), pool=pool)

    def _get_notify_waiter(self) -> Any:
        self._notify_waiter: Any = self._notify_waiter or Waiter(self.client.transport_options["conn_string"])
        return self._notify_waiter

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:
        """Deliver messages. A worker whose tasks run in threads learns soon that it may take more of them."""
        until = time.monotonic() + (timeout or 0)
        while not any(channel.qos.can_consume() for channel in self.channels):
            if timeout is not None and time.monotonic() >= until:
                raise TimeoutError
            time.sleep(FULL_SECONDS)
        super().drain_events(connection, timeout)

    def verify_connection(self, connection: Any) -> bool:
        """Return True without a query, which kombu would send before each message."""
        return True

    def turn_back(self) -> None:
        """Let messages be seen after the clock was turned back; beat calls it."""
        with _pool_of(self.client.transport_options["conn_string"]).connection() as connection:
            turn_back(connection)
