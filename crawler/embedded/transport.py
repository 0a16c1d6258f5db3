"""kombu's transport on pgmq with what it lacks, in one place: kombu 5.7 asks for each of these.

Registered under the name `pgmq` by `crawler.celery`, instead of kombu's own.
"""

from __future__ import annotations

from typing import Any

import psycopg
from kombu.exceptions import ConnectionError as BrokerConnectionError
from kombu.transport import pgmq as _pgmq

pgmq: Any = _pgmq  # which has no types
LOOK_SECONDS = 0.25
"""A worker that waits for messages looks this often whether it shall end."""


class ChannelGoneError(BrokerConnectionError):
    """The channel was closed under its user; whoever sends connects anew and sends again."""


class QueueChannel(pgmq.Channel):  # type: ignore[misc]
    """A channel that says that it was closed, and leaves queues alone that are as they should be."""

    def __init__(self, connection: Any, **options: Any) -> None:
        super().__init__(connection, **options)
        self._address = connection._get_pgmq_client().config.dsn

    @property
    def pgmq(self) -> Any:
        """The client. Raises ChannelGoneError, which senders answer with another connection.

        When declaring a queue meets a connection that was lost, kombu connects anew in there and goes on to
        publish on the channel it had before; the task that sent would end with an AttributeError of None.
        """
        if self.connection is None:
            raise ChannelGoneError("the channel to the broker was closed")
        return self.connection._get_pgmq_client()

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """What was done while the connection was lost is done: its message shall not come again."""
        try:
            super().basic_ack(delivery_tag, multiple)
        except ChannelGoneError:
            taken = self.qos.get(delivery_tag).delivery_info
            with psycopg.connect(self._address, connect_timeout=10) as connection:
                connection.execute(
                    "SELECT pgmq.delete(%s::text, %s::bigint)", (taken["pgmq_queue"], taken["pgmq_msg_id"])
                )
            self.qos.ack(delivery_tag)

    def _new_queue(self, queue: str, **options: Any) -> None:
        """kombu creates a queue at every binding, so in every process that sends to it."""
        if self._has_queue(queue):
            self._maybe_enable_notify(queue)
        else:
            super()._new_queue(queue, **options)

    def _maybe_enable_notify(self, queue: str, queue_name: str | None = None) -> None:
        """Making the trigger again locks the queue's table against its readers: two such deadlock."""
        if not self.use_notify:
            return
        name = queue_name or self._queue_name(queue)
        if any(throttle.queue_name == name for throttle in self.pgmq.list_notify_throttles()):
            self.connection._register_notify_queue(name)
        else:
            super()._maybe_enable_notify(queue, queue_name=name)


class Transport(pgmq.Transport):  # type: ignore[misc]
    """The transport with those channels, which lets a worker end at once."""

    Channel = QueueChannel

    def establish_connection(self) -> Any:
        """Connect. After a failure with a new pool: the old one would try again after longer and longer."""
        try:
            return super().establish_connection()
        except Exception:
            if self._pgmq_client is not None:
                self._pgmq_client.close()
            self._pgmq_client: Any = None
            raise

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:
        """Wait for messages, never long: a worker looks after each wait whether it shall end."""
        super().drain_events(connection, min(timeout, LOOK_SECONDS) if timeout else timeout)
