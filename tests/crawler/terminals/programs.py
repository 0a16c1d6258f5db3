"""Programs for the fork server of a test."""

from __future__ import annotations

import os
import socket
import sys
import time
from typing import Any

from crawler.isolation.fork_server import PROGRAMS, ForkServer, Program


def _say(words: dict[str, Any], descriptors: list[int]) -> None:
    os.write(descriptors[0], words.get("text", "").encode())
    sys.exit(words.get("code", 0))


def _wait(words: dict[str, Any], descriptors: list[int]) -> None:
    time.sleep(600)


def _descriptors(words: dict[str, Any], descriptors: list[int]) -> None:
    opened = os.listdir("/dev/fd")
    os.write(descriptors[0], str(len(opened) - 1).encode())  # but for the one that lists them


def _ask(words: dict[str, Any], descriptors: list[int]) -> None:
    out, asked = descriptors
    server = ForkServer(socket.socket(fileno=asked))
    codes = {name: server.fork(name, {}, [out]).wait(60) for name in ("say", "wait")}
    os.write(out, ", ".join(f"{name}: {code}" for name, code in codes.items()).encode())


PROGRAMS["say"] = Program(_say)
PROGRAMS["wait"] = Program(_wait)
PROGRAMS["descriptors"] = Program(_descriptors)
PROGRAMS["ask for others"] = Program(_ask, asks=("say",))
