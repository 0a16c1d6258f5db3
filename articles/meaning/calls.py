"""Calls of the program that asks the embeddings endpoint (`articles.meaning.program`)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from django.conf import settings

from articles.meaning.embedding import EmbeddingQuestion
from articles.meaning.program import EMBED, EmbeddingReport
from articles.modelled.calls import NO_PROCESS, SPARE_SECONDS
from articles.modelled.chat import TOO_SLOW
from crawler.fetching.sandboxed import client
from crawler.isolation.calls import ProgramError
from crawler.text.reasons import unpacked

MAX_REPORT = 16 * 1024 * 1024

client.programs.add_module("articles.meaning.program")


def ask_vectors(texts: Sequence[str], seconds: float) -> EmbeddingReport:
    """Ask for the vectors of texts in a process of its own. Whatever goes wrong becomes a report."""
    question = EmbeddingQuestion(
        url=settings.EMBEDDINGS_URL,
        model=settings.EMBEDDINGS_MODEL,
        texts=list(texts),
        seconds=seconds,
        key=settings.EMBEDDINGS_KEY,
        user_agent=settings.FETCH_USER_AGENT,
    )
    body = msgspec.json.encode(question)
    try:
        encoded = client.programs.call(EMBED, {}, body, seconds=seconds + SPARE_SECONDS, max_bytes=MAX_REPORT)
        report = msgspec.msgpack.decode(encoded, type=EmbeddingReport)
    except ProgramError as error:
        return EmbeddingReport("failed", [], TOO_SLOW if error.kind == "too-slow" else NO_PROCESS)
    except msgspec.MsgspecError:
        return EmbeddingReport("failed", [], NO_PROCESS)
    return msgspec.structs.replace(report, detail=unpacked(report.detail))
