"""Messages to a local receiver that fails, hangs and sees its senders killed: each arrives, none is lost.

    python -m benchmarks.messages [--messages 10000] [--places 40] [--errors 0.05] [--kill-every 4]

Two processes send. One of them is killed (SIGKILL) every so many seconds, and started again. The receiver
answers a share of the messages with 500, and lets a share hang, at their first attempt. It tells messages
apart by their Idempotency-Key. Waits after failures are a second here, a message has three.
Prints messages a second, and how many arrived once, arrived again under the same key, and never.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks.database import own_database

DEADLINE = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--places", type=int, default=40)
    parser.add_argument("--errors", type=float, default=0.05)
    parser.add_argument("--hangs", type=float, default=0.002)
    parser.add_argument("--kill-every", type=float, default=4.0)
    parser.add_argument("--send", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.send:
        return send_until_killed()
    receiver = Receiver(options.errors, options.hangs)
    with own_database("messages", FETCH_ALLOWED_NETWORKS="127.0.0.0/8"):
        fill(options.messages, options.places, receiver.address)
        run(options.messages, options.kill_every, receiver)


class Receiver:
    """A web server that notes which messages it has acknowledged, and how often."""

    def __init__(self, errors: float, hangs: float) -> None:
        self.acknowledged: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self._errors, self._hangs, self._dice = errors, hangs, random.Random(1)
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.answer(self.headers["Idempotency-Key"])
                try:
                    self.send_response(status)
                    self.end_headers()
                except OSError:  # its sender was killed
                    pass

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """The address for messages."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def answer(self, key: str) -> int:
        """Take a message, or at its first attempt fail or hang by chance."""
        with self._lock:
            chance = self._dice.random() if not self.refused[key] and not self.acknowledged[key] else 1.0
            self.refused[key] += chance < self._errors + self._hangs
        if chance < self._hangs:
            time.sleep(DEADLINE * 3)
            return 500
        if chance < self._errors + self._hangs:
            return 500
        with self._lock:
            self.acknowledged[key] += 1
        return 204


def fill(messages: int, places: int, address: str) -> None:
    """Store messages that are due."""
    from django.contrib.auth.models import User

    from crawler.notices.models import Notification, Target

    user = User.objects.create_user("mara")
    targets = []
    for number in range(places):
        target = Target(user=user, kind="webhook", name=f"place {number}")
        target.address = json.dumps({"url": address, "secret": "tide"})
        target.save()
        targets.append(target)
    now = datetime.now(UTC)
    rows = (
        Notification(
            user=user, target=targets[number % places], target_name="place", key=str(number),
            title=f"Message {number}", text="High water at noon.", due=now,
        )
        for number in range(messages)
    )  # fmt: skip
    Notification.objects.bulk_create(rows, batch_size=2000)


def send_until_killed() -> None:
    """Send what is due, over and over; a separate process, on the database of the one that started it."""
    import django

    django.setup()
    from crawler.notices import sending, times

    times.RETRIES = (timedelta(seconds=1),) * 4
    sending.SECONDS, sending.LEASE = DEADLINE, timedelta(seconds=4 * DEADLINE)
    while True:
        if not sending.send_for(5.0):
            time.sleep(0.2)


def run(messages: int, kill_every: float, receiver: Receiver) -> None:
    """Send everything with processes that are killed now and then, and print what became of it."""
    from crawler.notices.models import Notification

    command = [sys.executable, "-m", "benchmarks.messages", "--send"]
    senders = [subprocess.Popen(command) for _ in range(2)]
    began, killed, last = time.monotonic(), 0, time.monotonic()
    while Notification.objects.filter(state__in=["waiting", "sending"]).exists():
        time.sleep(0.5)
        if time.monotonic() - last > kill_every:
            last, killed = time.monotonic(), killed + 1
            senders[killed % 2].kill()
            senders[killed % 2].wait()
            senders[killed % 2] = subprocess.Popen(command)
    seconds = time.monotonic() - began
    for sender in senders:
        sender.kill()
        sender.wait()
    states = Counter(Notification.objects.values_list("state", flat=True))
    again = sum(count > 1 for count in receiver.acknowledged.values())
    never = messages - len(receiver.acknowledged)
    print(
        f"{messages} messages in {seconds:.0f} s: {messages / seconds:.0f} a second, {killed} senders killed"
    )
    print(
        f"sent {states['sent']}, given up {states['failed']}; "
        f"refused at first {sum(receiver.refused.values())}"
    )
    print(
        f"acknowledged once {sum(count == 1 for count in receiver.acknowledged.values())}, never {never}, "
        f"again under the same key {again}"
    )


if __name__ == "__main__":
    main()
