"""A client of OpenAI's embeddings, as Ollama, llama.cpp, vLLM and hosted models speak them.

Without Django, for a process that has no settings. As in `articles.modelled.chat`, no redirect is followed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from articles.modelled.chat import (
    CONNECT_SECONDS,
    CUT,
    MAX_BYTES,
    TOO_LONG,
    TOO_SLOW,
    UNREACHABLE,
    ChatError,
    endpoint_address,
    error_in,
    refusal,
)
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason

MAX_ASKS = 3
MAX_DIMENSIONS = 4000
"""The most that an index of pgvector takes (halfvec)."""
REFUSED_INPUTS = {400, 413, 422}
"""Statuses by which a server refuses the texts themselves, such as too long ones."""

NO_VECTORS = gettext_noop("What answered is not an embeddings endpoint, or speaks another protocol.")
WRONG_NUMBER = gettext_noop("The model answers with another number of vectors than there were texts.")
WRONG_SIZE = gettext_noop("The model's vectors differ in length, or are longer than the index takes.")
NOT_NUMBERS = gettext_noop("The model's vectors have values that are no numbers.")


class EmbeddingQuestion(msgspec.Struct, frozen=True):
    """Texts to embed: where, by which model, and within how many seconds."""

    url: str
    model: str
    texts: list[str]
    seconds: float
    key: str = ""
    user_agent: str = ""


class InputRefusedError(ChatError):
    """Error for texts that the server refuses; others may be taken."""


class _Item(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Item]


def embed(question: EmbeddingQuestion) -> list[list[float]]:
    """Return the vectors of texts, of unit length; [] for a text whose vector is nothing but zeros.

    A server that is busy is asked again after the pause that it wants, within the time of the question.
    Raises ChatError.
    """
    until = time.monotonic() + question.seconds
    for number in range(MAX_ASKS):
        try:
            return vectors_in(_asked(question, until), len(question.texts))
        except ChatError as error:
            if error.wait is None or number == MAX_ASKS - 1 or time.monotonic() + error.wait >= until:
                raise
            time.sleep(error.wait)
    raise AssertionError("unreachable")


def vectors_in(body: bytes, count: int) -> list[list[float]]:
    """Return the vectors of a response for so many texts, in the order of the texts. Raises ChatError."""
    if not body.strip():
        raise ChatError(CUT)
    try:
        items = msgspec.json.decode(body, type=_Answer).data
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise _error_of(body) from error
    if len(items) != count:
        raise ChatError(WRONG_NUMBER)
    if all(item.index is not None for item in items):
        items = sorted(items, key=lambda item: item.index or 0)
        if [item.index for item in items] != list(range(count)):
            raise ChatError(WRONG_NUMBER)
    sizes = {len(item.embedding) for item in items}
    if len(sizes) > 1 or not 1 <= max(sizes, default=1) <= MAX_DIMENSIONS:
        raise ChatError(WRONG_SIZE)
    return [unit(item.embedding) for item in items]


def unit(vector: Sequence[float]) -> list[float]:
    """Return a vector with the length 1, [] for the zero vector. Raises ChatError for what is no number."""
    length = math.hypot(*vector)
    if not math.isfinite(length):
        raise ChatError(NOT_NUMBERS)
    return [value / length for value in vector] if length else []


def _error_of(body: bytes) -> ChatError:
    """Return why a response holds no vectors: an error in words, NaN (which is no JSON), or nonsense."""
    try:
        if words := error_in(msgspec.json.decode(body)):
            return ChatError(Reason("The model's server says: {0}", words))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        if not body.lstrip().startswith(b"{"):
            return ChatError(NO_VECTORS)
        if b"NaN" in body or b"Infinity" in body:
            return ChatError(NOT_NUMBERS)
        return ChatError(CUT)
    return ChatError(NOT_NUMBERS if b'"embedding"' in body and b"null" in body else NO_VECTORS)


def _asked(question: EmbeddingQuestion, until: float) -> bytes:
    import requests  # noqa: PLC0415 - only in the process that asks
    import urllib3  # noqa: PLC0415

    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if question.user_agent:
        headers["User-Agent"] = question.user_agent
    if question.key:
        headers["Authorization"] = f"Bearer {question.key}"
    seconds = max(until - time.monotonic(), 0.1)
    try:
        with requests.Session() as session:
            session.trust_env = False
            with session.post(
                endpoint_address(question.url, "/embeddings"),
                data=msgspec.json.encode({"model": question.model, "input": question.texts}),
                headers=headers | {"Content-Type": "application/json"},
                stream=True,
                allow_redirects=False,
                timeout=(min(CONNECT_SECONDS, seconds), seconds),
            ) as response:
                if response.status_code != 200:
                    error = refusal(response, question.key)
                    is_input = response.status_code in REFUSED_INPUTS
                    raise InputRefusedError(error.detail) if is_input else error
                return _read(response.raw, until)
    except (requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError) as error:
        raise ChatError(TOO_SLOW) from error
    except requests.RequestException as error:
        raise ChatError(UNREACHABLE) from error
    except (urllib3.exceptions.HTTPError, OSError) as error:  # amid the answer
        raise ChatError(CUT) from error


def _read(raw: Any, until: float) -> bytes:
    body = bytearray()
    while piece := raw.read1(65_536, decode_content=True):
        body += piece
        if len(body) > MAX_BYTES:
            raise ChatError(TOO_LONG)
        if time.monotonic() > until:
            raise ChatError(TOO_SLOW)
    return bytes(body)
