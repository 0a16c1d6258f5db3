"""kombu's transport on pgmq with what it lacks, in one place: kombu 5.7 asks for each of these.

Registered under the name `pgmq` by `crawler.celery`, instead of kombu's own, which asks every queue ten times
a second. This one waits for PostgreSQL's word that a message came, or for the time of the earliest message
that is hidden. Words are throttled: after each word or message it looks again soon, then ever more seldom.
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

from crawler.embedded.link import Link, link_to

pgmq: Any = _pgmq  # which has no types
FIRST_LOOK_SECONDS = 0.3
"""After word of a message: those sent within broker.NOTIFY_MILLISECONDS of it came without a word."""
LAST_LOOK_SECONDS = 30.0
"""A worker without messages looks at least this often, whether there was word of any or not."""


class ChannelGoneError(BrokerConnectionError):
    """The channel was closed under its user; whoever sends connects anew and sends again."""


class LinkClient(PGMQueue):  # type: ignore[no-untyped-call]
    """pgmq's client on the process's link: every call is one statement and needs no transaction around it."""

    _transaction_decorator: Any = staticmethod(lambda function: function)


class QueueChannel(pgmq.Channel):  # type: ignore[misc]
    """A channel that reads where there is something, says that it was closed, and leaves queues alone."""

    def __init__(self, connection: Any, **options: Any) -> None:
        super().__init__(connection, **options)
        self._link: Link = connection.link

    @property
    def pgmq(self) -> Any:
        """The client. Raises ChannelGoneError, which senders answer with another connection.

        When declaring a queue meets a connection that was lost, kombu connects anew in there and goes on to
        publish on the channel it had before; the task that sent would end with an AttributeError of None.
        """
        if self.connection is None:
            raise ChannelGoneError("the channel to the broker was closed")
        return self.connection._get_pgmq_client()

    def basic_consume(self, queue: str, *arguments: Any, **options: Any) -> Any:
        """Hear of new messages first, then look for what there is: none falls between."""
        self._link.listen(self._queue_name(queue))
        return super().basic_consume(queue, *arguments, **options)

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """What was done while the connection was lost is done: its message shall not come again."""
        with _Room(self):
            try:
                super().basic_ack(delivery_tag, multiple)
            except ChannelGoneError:
                taken = self.qos.get(delivery_tag).delivery_info
                with self._link.connection() as connection:
                    connection.execute(
                        "SELECT pgmq.delete(%s::text, %s::bigint)",
                        (taken["pgmq_queue"], taken["pgmq_msg_id"]),
                    )
                self.qos.ack(delivery_tag)

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """One that goes back is seen at once by this worker, later by others."""
        with _Room(self):
            try:
                name = self.qos.get(delivery_tag).delivery_info.get("pgmq_queue")
            except KeyError:
                name = None
            super().basic_reject(delivery_tag, requeue)
            if requeue and name is not None:
                self._link.fresh.add(name)

    def _get_bulk(self, queue: str, *arguments: Any, **options: Any) -> None:
        """Read a queue where there may be messages. Raises Empty where there are none, without asking."""
        name = self._queue_name(queue)
        if name not in self._link.fresh:
            raise Empty
        # Before reading: word that comes meanwhile shall count.
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
        """A task with a time stays hidden until then, and no worker has to hold it."""
        options: dict[str, Any] = super()._pgmq_send_kwargs(message)
        if eta := (message.get("headers") or {}).get("eta"):
            options["delay"] = datetime.fromisoformat(eta)
        return options

    def message_to_python(self, raw_message: Any) -> Any:
        """A task whose time has come: with the time on it, Celery would run it in a thread of its own."""
        message = super().message_to_python(raw_message)
        message.headers.pop("eta", None)
        return message

    def _new_queue(self, queue: str, **options: Any) -> None:
        """kombu creates a queue at every binding, so in every process that sends to it."""
        if self._has_queue(queue):
            self._maybe_enable_notify(queue)
        else:
            super()._new_queue(queue, **options)

    def _maybe_enable_notify(self, queue: str, queue_name: str | None = None) -> None:
        """Making the trigger again locks the queue's table against its readers: two such deadlock."""
        name = queue_name or self._queue_name(queue)
        if not any(throttle.queue_name == name for throttle in self.pgmq.list_notify_throttles()):
            self.pgmq.enable_notify(name, throttle_interval_ms=self.notify_throttle_interval_ms)


class _Room:
    """Around an acknowledgement: where it makes room for another message, the thread that reads is woken."""

    def __init__(self, channel: QueueChannel) -> None:
        self._channel = channel

    def __enter__(self) -> None:
        self._full = not self._channel.qos.can_consume()

    def __exit__(self, *error: object) -> None:
        # In the thread that reads, the solo pool's, there is nobody to be woken.
        if self._full and threading.current_thread() is not threading.main_thread():
            self._channel._link.waker.wake()


class Transport(pgmq.Transport):  # type: ignore[misc]
    """The transport with those channels: it waits for word of messages instead of asking for them."""

    Channel = QueueChannel

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)
        given = client.transport_options
        dsn = given.get("conn_string") or "postgresql" + client.as_uri(include_password=True).removeprefix(
            "pgmq"
        )
        self.link = link_to(str(dsn), float(given.get("pool_timeout", 10)))
        self._opening, self._look, self._pause = 0, 0.0, FIRST_LOOK_SECONDS

    def _create_pgmq_client(self) -> LinkClient:
        link: Any = self.link
        timeout = int(float(self.client.transport_options.get("visibility_timeout") or 1800))
        return LinkClient(conn_string=self.link.dsn, vt=timeout, init_extension=False, pool=link)

    def _register_notify_queue(self, queue_name: str) -> None:
        """Whoever only sends to a queue need not hear of its messages."""

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:
        """Deliver what there is, or wait for it. Raises socket.timeout after so many seconds, or when woken.

        A worker then looks whether it shall end, and comes back; that asks nothing of PostgreSQL.
        """
        until = monotonic() + timeout if timeout is not None else None
        while True:
            if self.link.openings != self._opening:
                raise psycopg.OperationalError("the connection to the broker was lost meanwhile")
            try:
                self.cycle.get(self._deliver, timeout=timeout)
            except Empty:
                left = LAST_LOOK_SECONDS if until is None else until - monotonic()
                if left <= 0:
                    raise TimeoutError from None
                if not self._wait(left):
                    raise TimeoutError from None
            else:
                self._expect_more()
                return

    def _wait(self, seconds: float) -> bool:
        """Until something may have come, at most so long; false when woken for another reason."""
        queues = {
            channel._queue_name(queue)
            for channel in self.channels
            for queue in (channel._active_queues if channel.qos.can_consume() else ())
        }
        # A worker that has all it may take is woken by an acknowledgement.
        rest = self._look - monotonic() if queues else seconds
        if rest <= 0:
            rest = self._look_for(queues)
        if self.link.fresh & queues:
            return True
        woken = self.link.wait(queues, min(seconds, rest))
        if self.link.fresh & queues:
            self._expect_more()
        return woken

    def _expect_more(self) -> None:
        self._pause = FIRST_LOOK_SECONDS
        self._look = monotonic() + self._pause

    def _look_for(self, queues: set[str]) -> float:
        """Which queues have messages that can be read; seconds until the next look."""
        statement = sql.SQL(" UNION ALL ").join(
            sql.SQL("SELECT {}, extract(epoch FROM min(vt) - clock_timestamp())::float8 FROM {}").format(
                sql.Literal(queue), sql.Identifier("pgmq", f"q_{queue}")
            )
            for queue in sorted(queues)
        )
        with self.link.connection() as connection:
            hidden = {queue: left for queue, left in connection.execute(statement) if left is not None}
        self.link.fresh |= {queue for queue, left in hidden.items() if left <= 0}
        rest: float = min([self._pause, *(left for left in hidden.values() if left > 0)])
        self._look = monotonic() + rest
        self._pause = min(2 * self._pause, LAST_LOOK_SECONDS)
        return rest

    def establish_connection(self) -> Any:
        """Connect; the link stays open while anybody uses it."""
        self.link.users.add(self)
        established = super().establish_connection()
        self._opening = self.link.openings
        return established

    def verify_connection(self, connection: Any) -> bool:
        """True, without asking PostgreSQL at each wait: the wait itself notices when it was lost."""
        return True

    def close_connection(self, connection: Any) -> None:
        """Close what is only this transport's, and the link when nobody else uses it."""
        super().close_connection(connection)
        self.link.users.discard(self)
        if not self.link.users:
            self.link.close()
