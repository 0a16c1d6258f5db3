"""What the engine settles goes on into the graph."""

from __future__ import annotations

from collections.abc import Sequence

from django.dispatch import receiver

from crawler.engine.signals import checked_in, settled
from crawler.engine.work import Stored
from crawler.frontier.work import UrlWork
from crawler.messages import Harvest
from crawler.pipeline.documents import note, take_crawled
from crawler.pipeline.messages import PhaseOutcome

LONGEST_ELAPSED = 86_400.0
"""Seconds that a download can have taken; what says more was made up."""


@receiver(settled)
def take_pages_of_crawls(stored: Stored, **_: object) -> None:
    """Pages of crawls that fill the graph."""
    if UrlWork in stored:
        take_crawled(stored[UrlWork].graphed)


@receiver(checked_in)
def note_downloads(results: Sequence[Harvest], **_: object) -> None:
    """Downloads are the first phase. Outside the transaction, for all of them write into one row a minute."""
    told = [
        PhaseOutcome(h.id, h.failure, seconds=h.elapsed) for h in results if 0 < h.elapsed < LONGEST_ELAPSED
    ]
    note("fetch", "terminals", told)
