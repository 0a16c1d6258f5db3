"""What the engine tells whoever wants to hear it. Receivers run in its transaction, but for `checked_in`."""

from __future__ import annotations

from django.dispatch import Signal

settled = Signal()
"""All that a check-in brought was settled: `stored` has by class of `Work` what its `settle` answered."""

robots_read = Signal()
"""Hosts were locked and robots.txt of some was written down: `hosts`, `now`."""

checked_in = Signal()
"""Results were stored, and the transaction is over: `results`."""

ticked = Signal()
"""A tick is over, and what it chose is handed out: `now`. Outside any transaction."""

asked = Signal()
"""Whether anything waits that tending would move on: `now`. Who answers true is tended within seconds, not a
minute; the question comes every few seconds, so an answer is one look at an index."""

tended = Signal()
"""Some seconds have passed since the last time: `now`. Who answers true has something to be handed out."""
