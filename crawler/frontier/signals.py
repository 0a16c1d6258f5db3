"""Signals of crawls. Receivers run in the sender's transaction."""

from __future__ import annotations

from django.dispatch import Signal

binaries_wanted = Signal()
"""Asks receivers whether pictures and other binary documents of graph-led crawls are to be fetched."""

query_tried = Signal()
"""Asks receivers which addresses a `query` names over what is stored: weights, or why there are none."""

more_expected = Signal()
"""Asks receivers whether work under way may add URLs to a `crawl`. The crawl's row is locked, and code that
queues URLs locks it, too."""
