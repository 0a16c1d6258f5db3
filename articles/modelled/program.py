"""The program that asks a language model one question, in a process without database and secret key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from articles.modelled.chat import ChatError, ChatQuestion, ask
from crawler.fetching.sandboxed.programs import SENDING
from crawler.isolation.calls import register_stream
from crawler.text.characters import storable
from crawler.text.reasons import packed

ASK_MODEL = "ask-model"


class ChatReport(msgspec.Struct, frozen=True):
    """A line of the program's answer: how many characters have come, or in the last one the outcome.

    `state` is "" until the end, then done, busy or failed; `wait` is in seconds.
    """

    received: int = 0
    state: str = ""
    text: str = ""
    detail: str = ""
    wait: float | None = None


def ask_model(request: dict[str, Any], body: bytes) -> Iterator[bytes]:
    """Ask the question in the body, which is JSON. Yields reports as lines of JSON."""
    received = 0
    try:
        asking = ask(msgspec.json.decode(body, type=ChatQuestion))
        while True:
            try:
                received = next(asking)
            except StopIteration as end:
                yield _line(ChatReport(received, "done", end.value))
                return
            yield _line(ChatReport(received))
    except ChatError as error:
        state = "failed" if error.wait is None else "busy"
        yield _line(ChatReport(received, state, "", packed(error.detail), error.wait))
    except Exception as error:  # nothing says what libraries raise on what a server answers
        yield _line(ChatReport(received, "failed", "", storable(f"{type(error).__name__}: {error}", 300)))


def _line(report: ChatReport) -> bytes:
    return msgspec.json.encode(report) + b"\n"


register_stream(ASK_MODEL, ask_model, SENDING)
