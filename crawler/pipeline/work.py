"""Signal receivers that pass settled work on to the graph."""

from __future__ import annotations

from collections.abc import Sequence

from django.dispatch import receiver

from crawler.engine.signals import checked_in, settled
from crawler.engine.work import Stored
from crawler.frontier.work import UrlWork
from crawler.messages import Harvest
from crawler.pipeline.documents import note, take_crawled
from crawler.pipeline.messages import PhaseOutcome

MAX_ELAPSED_SECONDS = 86_400.0
"""Seconds that a download can have taken; what says more was made up."""


@receiver(settled)
def take_pages_of_crawls(stored: Stored, **_: object) -> None:
    """Store pages of crawls that fill the graph as documents."""
    if UrlWork in stored:
        take_crawled(stored[UrlWork].graphed)


@receiver(checked_in)
def note_downloads(results: Sequence[Harvest], **_: object) -> None:
    """Record downloads as the first phase. Runs outside the transaction: all update one row a minute."""
    outcomes = [
        PhaseOutcome(h.id, h.failure, seconds=h.elapsed)
        for h in results
        if 0 < h.elapsed < MAX_ELAPSED_SECONDS
    ]
    note("fetch", "terminals", outcomes)
