"""Calls of the program that asks a language model (`articles.modelled.program`)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from django.conf import settings

from articles.modelled.chat import MAX_TEXT_BYTES, TOO_SLOW, ChatQuestion
from articles.modelled.program import ASK_MODEL, ChatReport
from crawler.engine.chosen import chosen
from crawler.fetching.sandboxed import client
from crawler.isolation.calls import ProgramError
from crawler.text.marking import gettext_noop
from crawler.text.reasons import unpacked

MAX_REPORTS = 1024 * 1024
SPARE_SECONDS = 3.0
USUAL_TOKENS, TRANSLATION_TOKENS = 4_000, 16_000
"""The longest answers: a small model that repeats itself fills all of its time otherwise (SmolLM2 did)."""
NO_PROCESS = gettext_noop("The process that asks the model ended early.")

client.programs.add_module("articles.modelled.program")


def ask_model(
    messages: list[dict[str, str]],
    hear: Callable[[int], None] = lambda _: None,
    *,
    tokens: int = USUAL_TOKENS,
) -> ChatReport:
    """Ask the model in a process of its own, and return the last report. Whatever goes wrong becomes one.

    The answer has at most so many `tokens`, those of the model's thoughts included. `hear` gets how many
    characters have come, about once a second; what it raises ends the process.
    """
    seconds = chosen("MODEL_SECONDS")
    question = ChatQuestion(
        url=settings.MODEL_URL,
        model=settings.MODEL_NAME,
        messages=messages,
        seconds=seconds,
        key=settings.MODEL_KEY,
        user_agent=settings.FETCH_USER_AGENT,
        tokens=tokens,
    )
    reports = _Reports(hear)
    max_bytes = MAX_REPORTS + 6 * MAX_TEXT_BYTES
    body = msgspec.json.encode(question)
    try:
        lines = client.programs.call(
            ASK_MODEL, {}, body, seconds=seconds + SPARE_SECONDS, max_bytes=max_bytes, hear=reports.take
        )
        report = msgspec.json.decode(lines.splitlines()[-1], type=ChatReport)
    except ProgramError as error:
        return ChatReport(state="failed", detail=TOO_SLOW if error.kind == "too-slow" else NO_PROCESS)
    except (IndexError, msgspec.MsgspecError):
        return ChatReport(state="failed", detail=NO_PROCESS)
    if not report.state:
        return ChatReport(state="failed", detail=NO_PROCESS)
    return msgspec.structs.replace(report, detail=unpacked(report.detail))


class _Reports:
    """Reports whose lines come in pieces."""

    def __init__(self, hear: Callable[[int], None]) -> None:
        self._hear, self._pending, self._received = hear, b"", 0

    def take(self, piece: bytes) -> None:
        *lines, self._pending = (self._pending + piece).split(b"\n")
        if lines:
            self._received = msgspec.json.decode(lines[-1], type=ChatReport).received
        self._hear(self._received)
