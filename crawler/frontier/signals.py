"""Signals of crawls. Receivers run in the sender's transaction."""

from __future__ import annotations

from django.dispatch import Signal

more_expected = Signal()
"""Asks receivers whether work under way may add URLs to a `crawl`. The crawl's row is locked, and code that
queues URLs locks it, too."""
