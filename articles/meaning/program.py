"""The program that asks an embeddings endpoint once, in a process without database and secret key."""

from __future__ import annotations

from typing import Any

import msgspec

from articles.meaning.embedding import EmbeddingQuestion, InputRefusedError, embed
from articles.modelled.chat import ChatError
from crawler.fetching.sandboxed.programs import SENDING
from crawler.isolation.calls import register
from crawler.text.characters import storable
from crawler.text.reasons import packed

EMBED = "embed"


class EmbeddingReport(msgspec.Struct, frozen=True):
    """The program's answer: unit vectors in the order of the texts, [] for one without, or a failure.

    `state` is done, busy (`wait` is in seconds), refused (the texts themselves) or failed.
    """

    state: str
    vectors: list[list[float]] = []
    detail: str = ""
    wait: float | None = None


def embed_texts(_: dict[str, Any], body: bytes) -> bytes:
    """Ask the question in the body, which is JSON. Returns a report as MessagePack."""
    try:
        question = msgspec.json.decode(body, type=EmbeddingQuestion)
        report = EmbeddingReport("done", embed(question))
    except InputRefusedError as error:
        report = EmbeddingReport("refused", [], packed(error.detail))
    except ChatError as error:
        state = "failed" if error.wait is None else "busy"
        report = EmbeddingReport(state, [], packed(error.detail), error.wait)
    except Exception as error:  # nothing says what libraries raise on what a server answers
        report = EmbeddingReport("failed", [], storable(f"{type(error).__name__}: {error}", 300))
    return msgspec.msgpack.encode(report)


register(EMBED, embed_texts, SENDING)
