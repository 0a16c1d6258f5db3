"""What came packed is inflated to a bound, and so is what is packed within a message: it costs no memory."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crawler.pipeline.index import index
from crawler.pipeline.models import Document
from crawler.reading.inflate import inflated
from tests.crawler.pipeline.test_store import lines, transformed

LARGE = 300_000_000


def bomb(sign: bytes = b"\n") -> bytes:
    """Some 300 KB that stand for 300 MB."""
    stream = zlib.compressobj(9)
    return b"".join([*(stream.compress(sign * 1_000_000) for _ in range(LARGE // 1_000_000)), stream.flush()])


@contextmanager
def at_most(size: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < size
    finally:
        tracemalloc.stop()


def test_a_bomb_costs_no_more_memory_than_the_bound() -> None:
    packed = bomb()
    with at_most(10_000_000), pytest.raises(ValueError, match="longer than"):
        inflated(packed, 1_000_000)


@pytest.mark.django_db
def test_triples_that_are_a_bomb_cost_their_document_alone() -> None:
    good = transformed('<urn:s:s> <urn:p:p> "good" .', "http://site.example/good")
    assert good.lease is not None
    bad = transformed("", "http://site.example/bad")
    Document.objects.filter(pk=bad.pk).update(triples=bomb(), lease=good.lease)
    with at_most(250_000_000):
        index(good.lease, "w")
    bad.refresh_from_db()
    assert (bad.state, bad.failed_phase) == ("dead", "index")
    assert "good" in " ".join(lines("http://site.example/good"))
