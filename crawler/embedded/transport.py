"""kombu's transport on pgmq with the additions that kombu 5.7 needs.

`crawler.celery` registers it as `pgmq` in place of kombu's own, which polls every queue ten times a second.
This one waits for PostgreSQL's notification of a message, or until the earliest hidden message becomes
visible. Notifications are throttled: after each notification or message it polls again soon, then ever more
rarely.
"""

from __future__ import annotations

import threading
from datetime import datetime
from queue import Empty
from time import monotonic
from typing import Any

import psycopg
from kombu.exceptions import ConnectionError as BrokerConnectionError
from kombu.transport import pgmq as _pgmq
from pgmq import PGMQueue
from psycopg import sql

from crawler.embedded.broker import turn_back
from crawler.embedded.link import Link, link_to

pgmq: Any = _pgmq  # which has no types
FIRST_LOOK_SECONDS = 0.3
"""Delay of the poll after a notification: messages within broker.NOTIFY_MILLISECONDS of it cause none."""
LAST_LOOK_SECONDS = 30.0
"""Maximum time between two polls of a worker without messages, with or without notifications."""


class ChannelGoneError(BrokerConnectionError):
    """An error raised on a closed channel; senders then reconnect and send again."""


class LinkClient(PGMQueue):  # type: ignore[no-untyped-call]
    """pgmq's client on the process's link, where each call is one statement and needs no transaction."""

    _transaction_decorator: Any = staticmethod(lambda function: function)


class QueueChannel(pgmq.Channel):  # type: ignore[misc]
    """A channel that reads only queues with messages, reports its closing, and keeps existing queues."""

    def __init__(self, connection: Any, **options: Any) -> None:
        super().__init__(connection, **options)
        self._link: Link = connection.link

    @property
    def pgmq(self) -> Any:
        """The client. Raises ChannelGoneError, after which senders reconnect.

        When declaring a queue meets a lost connection, kombu reconnects there and goes on to publish on the
        old channel; without this error the sending task would end with an AttributeError of None.
        """
        if self.connection is None:
            raise ChannelGoneError("the channel to the broker was closed")
        return self.connection._get_pgmq_client()

    def basic_consume(self, queue: str, *arguments: Any, **options: Any) -> Any:
        """Listen for notifications before the first read, so that no message is missed in between."""
        self._link.listen(self._queue_name(queue))
        return super().basic_consume(queue, *arguments, **options)

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Acknowledge a message, also one whose task ended while the connection was lost."""
        with _Room(self):
            try:
                super().basic_ack(delivery_tag, multiple)
            except ChannelGoneError:
                delivery_info = self.qos.get(delivery_tag).delivery_info
                with self._link.connection() as connection:
                    connection.execute(
                        "SELECT pgmq.delete(%s::text, %s::bigint)",
                        (delivery_info["pgmq_queue"], delivery_info["pgmq_msg_id"]),
                    )
                self.qos.ack(delivery_tag)

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Reject a message. A requeued message is visible to this worker at once, and later to others."""
        with _Room(self):
            try:
                name = self.qos.get(delivery_tag).delivery_info.get("pgmq_queue")
            except KeyError:
                name = None
            super().basic_reject(delivery_tag, requeue)
            if requeue and name is not None:
                self._link.fresh.add(name)

    def _get_bulk(self, queue: str, *arguments: Any, **options: Any) -> None:
        """Read a queue that may have messages. Raises Empty for any other queue, without a query."""
        name = self._queue_name(queue)
        if name not in self._link.fresh:
            raise Empty
        # Before reading, so that a notification that arrives meanwhile counts.
        self._link.fresh.discard(name)
        try:
            super()._get_bulk(queue, *arguments, **options)
        except Empty:
            raise
        except BaseException:
            self._link.fresh.add(name)
            raise
        self._link.fresh.add(name)

    def _pgmq_send_kwargs(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return options that hide a task with an ETA until then, so that no worker has to hold it."""
        options: dict[str, Any] = super()._pgmq_send_kwargs(message)
        if eta := (message.get("headers") or {}).get("eta"):
            options["delay"] = datetime.fromisoformat(eta)
        return options

    def message_to_python(self, raw_message: Any) -> Any:
        """Decode a message and remove its ETA, which has passed.

        With the ETA, Celery would run the task in a thread of its own.
        """
        message = super().message_to_python(raw_message)
        message.headers.pop("eta", None)
        return message

    def _new_queue(self, queue: str, **options: Any) -> None:
        """Create a queue unless it exists. kombu calls this at every binding, so in every sending process."""
        if self._has_queue(queue):
            self._maybe_enable_notify(queue)
        else:
            super()._new_queue(queue, **options)

    def _maybe_enable_notify(self, queue: str, queue_name: str | None = None) -> None:
        """Enable notifications unless they are.

        Creating the trigger again locks the queue's table against readers, and two such calls deadlock.
        """
        name = queue_name or self._queue_name(queue)
        if not any(throttle.queue_name == name for throttle in self.pgmq.list_notify_throttles()):
            self.pgmq.enable_notify(name, throttle_interval_ms=self.notify_throttle_interval_ms)


class _Room:
    """A context of an acknowledgement, which wakes the reading thread if it makes room for a message."""

    def __init__(self, channel: QueueChannel) -> None:
        self._channel = channel

    def __enter__(self) -> None:
        self._full = not self._channel.qos.can_consume()

    def __exit__(self, *error: object) -> None:
        # With the solo pool this is the reading thread itself, which need not be woken.
        if self._full and threading.current_thread() is not threading.main_thread():
            self._channel._link.waker.wake()


class Transport(pgmq.Transport):  # type: ignore[misc]
    """A transport of QueueChannels that waits for notifications of messages instead of polling."""

    Channel = QueueChannel

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)
        transport_options = client.transport_options
        dsn = transport_options.get("conn_string") or "postgresql" + client.as_uri(
            include_password=True
        ).removeprefix("pgmq")
        self.link = link_to(str(dsn), float(transport_options.get("pool_timeout", 10)))
        self._opening, self._look, self._pause = 0, 0.0, FIRST_LOOK_SECONDS

    def _create_pgmq_client(self) -> LinkClient:
        link: Any = self.link
        timeout = int(float(self.client.transport_options.get("visibility_timeout") or 1800))
        return LinkClient(conn_string=self.link.dsn, vt=timeout, init_extension=False, pool=link)

    def turn_back(self) -> None:
        """Let messages be seen after the clock was turned back; beat calls it."""
        with self.link.connection() as connection:
            turn_back(connection)

    def _register_notify_queue(self, queue_name: str) -> None:
        """Do nothing: a process that only sends to a queue needs no notifications of it."""

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:
        """Deliver messages, waiting for them if there are none.

        Raises TimeoutError after `timeout` seconds, or when woken for another reason: the worker then checks
        whether it must end, and calls again, without a query to PostgreSQL.
        """
        until = monotonic() + timeout if timeout is not None else None
        while True:
            if self.link.openings != self._opening:
                raise psycopg.OperationalError("the connection to the broker was lost meanwhile")
            try:
                self.cycle.get(self._deliver, timeout=timeout)
            except Empty:
                remaining_seconds = LAST_LOOK_SECONDS if until is None else until - monotonic()
                if remaining_seconds <= 0:
                    raise TimeoutError from None
                if not self._wait(remaining_seconds):
                    raise TimeoutError from None
            else:
                self._expect_more()
                return

    def _wait(self, seconds: float) -> bool:
        """Wait until a message may have arrived, for at most `seconds`.

        Returns False when the thread was woken for another reason.
        """
        queues = {
            channel._queue_name(queue)
            for channel in self.channels
            for queue in (channel._active_queues if channel.qos.can_consume() else ())
        }
        # A worker that has all it may take is woken by an acknowledgement.
        patience_seconds = self._look - monotonic() if queues else seconds
        if patience_seconds <= 0:
            patience_seconds = self._look_for(queues)
        if self.link.fresh & queues:
            return True
        woken = self.link.wait(queues, min(seconds, patience_seconds))
        if self.link.fresh & queues:
            self._expect_more()
        return woken

    def _expect_more(self) -> None:
        self._pause = FIRST_LOOK_SECONDS
        self._look = monotonic() + self._pause

    def _look_for(self, queues: set[str]) -> float:
        """Poll for readable messages and mark their queues as fresh.

        Returns the seconds until the next poll.
        """
        statement = sql.SQL(" UNION ALL ").join(
            sql.SQL("SELECT {}, extract(epoch FROM min(vt) - clock_timestamp())::float8 FROM {}").format(
                sql.Literal(queue), sql.Identifier("pgmq", f"q_{queue}")
            )
            for queue in sorted(queues)
        )
        with self.link.connection() as connection:
            hidden = {
                queue: seconds for queue, seconds in connection.execute(statement) if seconds is not None
            }
        self.link.fresh |= {queue for queue, seconds in hidden.items() if seconds <= 0}
        pause_seconds: float = min([self._pause, *(seconds for seconds in hidden.values() if seconds > 0)])
        self._look = monotonic() + pause_seconds
        self._pause = min(2 * self._pause, LAST_LOOK_SECONDS)
        return pause_seconds

    def establish_connection(self) -> Any:
        """Connect. The link stays open while any transport uses it."""
        self.link.users.add(self)
        established = super().establish_connection()
        self._opening = self.link.openings
        return established

    def verify_connection(self, connection: Any) -> bool:
        """Return True without a query: waiting notices a lost connection by itself."""
        return True

    def close_connection(self, connection: Any) -> None:
        """Close this transport's part, and the link when no other transport uses it."""
        super().close_connection(connection)
        self.link.users.discard(self)
        if not self.link.users:
            self.link.close()
