"""A process's one connection to the message broker in PostgreSQL, shared by all its channels.

It receives notifications of new messages (LISTEN). A thread that waits for one is woken by a notification, by
a signal to this process (signal.set_wakeup_fd), or by `Waker.wake` from another thread.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

Connection = psycopg.Connection[tuple[Any, ...]]

AGAIN_SECONDS = 0.2
TCP_SETTINGS: dict[str, Any] = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""Settings that report a vanished remote server within a minute, while waiting and while sending."""


class Waker:
    """A pipe that wakes the thread waiting for messages."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)

    def wake(self) -> None:
        """Wake the waiting thread. A full pipe needs no further byte."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b"\0")

    def wait(self, seconds: float, socket: int | None = None) -> bool:
        """Wait until the socket is readable, for at most `seconds`.

        Returns False when woken through the pipe, True otherwise.
        """
        if threading.current_thread() is threading.main_thread():
            # Every signal that Python handles wakes this thread, too: the worker may be asked to end.
            signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        poll = select.poll()
        for descriptor in (self._reader, socket):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        woken = self._reader in {descriptor for descriptor, _ in poll.poll(max(0.0, seconds) * 1000)}
        if woken:
            self._clear()
        return not woken

    def _clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._reader, 4096):
                pass


class Link:
    """The connection to a broker. It opens at first use and again after a loss. Thread-safe.

    `openings` is the number of times it opened. `fresh` is the set of queues with possibly unread messages: a
    notification adds its queue, a new connection adds all queues, because it misses earlier notifications.
    """

    def __init__(self, dsn: str, patience: float) -> None:
        self.openings = 0
        self.waker = Waker()
        self.fresh: set[str] = set()
        self.users: weakref.WeakSet[Any] = weakref.WeakSet()
        self.dsn = dsn
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._queues: set[str] = set()

    @contextlib.contextmanager
    def connection(self) -> Iterator[Connection]:
        """Yield the connection, in autocommit, to one thread at a time.

        Raises psycopg.OperationalError when the server cannot be reached for `patience` seconds.
        """
        with self._lock:
            connection = self._open_connection()
            try:
                yield connection
            finally:
                # A user interrupted in the middle of a statement must not leave it to the next user.
                if connection.pgconn.transaction_status not in (
                    TransactionStatus.IDLE,
                    TransactionStatus.UNKNOWN,
                ):
                    connection.close()

    def listen(self, queue: str) -> None:
        """Receive notifications of this queue from now on, and count it as fresh."""
        with self._lock:
            if queue not in self._queues:
                self._queues.add(queue)
                if self._connection is not None and not self._connection.closed:
                    _listen(self._connection, queue)
                else:
                    self._open_connection()
            self.fresh.add(queue)

    def wait(self, queues: set[str], seconds: float) -> bool:
        """Wait for a notification of these queues, for at most `seconds`.

        Returns False when woken through the pipe, True for a notification or a timeout. Raises
        psycopg.OperationalError when the connection was lost.
        """
        with self.connection() as connection:
            self._read_notifications(connection)
            if self.fresh & queues:
                return True
            socket = connection.fileno()
        quiet = self.waker.wait(seconds, socket)
        with self._lock:
            if connection is self._connection and not connection.closed:
                self._read_notifications(connection)
        return quiet

    def close(self) -> None:
        """Close the connection. The next use opens another."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def reset_after_fork(self) -> None:
        """Reset all state in a forked child, which must not use the parent's connection."""
        self.waker = Waker()
        self._lock = threading.RLock()
        self._connection = None
        self._queues, self.fresh, self.users = set(), set(), weakref.WeakSet()

    def _open_connection(self) -> Connection:
        """Return the open connection. Retries for `patience` seconds to open one."""
        until = time.monotonic() + self._patience
        while self._connection is None or self._connection.closed:
            try:
                self._connect()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(AGAIN_SECONDS)
        return self._connection

    def _connect(self) -> None:
        seconds = max(2, int(self._patience))
        connection = psycopg.connect(self.dsn, autocommit=True, connect_timeout=seconds, **TCP_SETTINGS)
        connection.add_notify_handler(self._on_notification)
        for queue in self._queues:
            _listen(connection, queue)
        self._connection = connection
        self.openings += 1
        self.fresh |= self._queues
        self.waker.wake()

    def _read_notifications(self, connection: Connection) -> None:
        """Read the notifications that have arrived."""
        try:
            connection.pgconn.consume_input()
            while notification := connection.pgconn.notifies():
                self.fresh.add(_queue(notification.relname.decode()))
        except psycopg.OperationalError:
            connection.close()
            raise

    def _on_notification(self, notification: psycopg.Notify) -> None:
        self.fresh.add(_queue(notification.channel))


def _listen(connection: Connection, queue: str) -> None:
    connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(f"pgmq.q_{queue}.INSERT")))


def _queue(channel: str) -> str:
    return channel.removeprefix("pgmq.q_").removesuffix(".INSERT")


_links: dict[str, Link] = {}
_links_lock = threading.Lock()


def link_to(dsn: str, patience: float) -> Link:
    """Return this process's link to the broker at `dsn`."""
    with _links_lock:
        if dsn not in _links:
            _links[dsn] = Link(dsn, patience)
        return _links[dsn]


def _after_fork() -> None:
    """Reset the links in a forked child: connections, locks and pipes are the parent's."""
    global _links_lock  # noqa: PLW0603 - another thread of the parent may have held it
    _links_lock = threading.Lock()
    if _links:
        signal.set_wakeup_fd(-1)
    for link in _links.values():
        link.reset_after_fork()


os.register_at_fork(after_in_child=_after_fork)
