"""People who read pages of a running product, each in a session of their own."""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections import Counter
from pathlib import Path

from benchmarks.hostile.api import Api

PAGES = (
    "/me/", "/me/", "/me/", "/articles/", "/articles/?page=2", "/articles/?q=river",
    "/articles/{}/", "/articles/{}/", "/articles/{}/", "/articles/{}/", "/articles/{}/",
    "/articles/stories/", "/feeds/", "/feeds/1/", "/api/articles/", "/api/articles/{}/", "/api/articles/{}/",
)  # fmt: skip


def readers_of(log: Path, count: int) -> Readers:
    """Return so many people for the product that listens on PORT and wrote its password to this log."""
    password = re.search(r"user admin, password (\S+)", log.read_text())
    return Readers(int(os.environ["PORT"]), password[1] if password else "", count)


class Readers:
    """People with a session each, who read until they are told to stop."""

    def __init__(self, port: int, password: str, count: int) -> None:
        self.answers: Counter[int] = Counter()
        self.failures: list[str] = []
        self.milliseconds: list[float] = []
        self._stop = threading.Event()
        api = Api(f"http://127.0.0.1:{port}")
        api.sign_in("admin", password)
        self._threads = [
            threading.Thread(target=self._read, args=(Api(api.base, cookies=dict(api.cookies)), number))
            for number in range(count)
        ]

    def start(self) -> None:
        """Let all of them begin within a second."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let them finish the page that they are reading."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _read(self, api: Api, number: int) -> None:
        chance = random.Random(number)
        self._stop.wait(chance.random())
        while not self._stop.is_set():
            target = chance.choice(PAGES).format(chance.randrange(1, 1000))
            began = time.monotonic()
            try:
                reply = api.page(target)
                self.answers[reply.status] += 1
                if reply.status >= 500:
                    self.failures.append(f"{target}: {reply.status} {reply.body[:100]!r}")
            except OSError as error:
                self.failures.append(f"{target}: {error}")
            self.milliseconds.append(1000 * (time.monotonic() - began))
            self._stop.wait(1.0)

    def percentile(self, share: float) -> float:
        """Return the milliseconds that this share of the pages took at most."""
        ranked = sorted(self.milliseconds)
        return ranked[min(int(share * len(ranked)), len(ranked) - 1)]
