"""Signals of the pipeline."""

from __future__ import annotations

from django.dispatch import Signal

page_contents = Signal()
"""Asks the app that stores article pages for their content: `pages` are keys of pages; receivers return a
mapping from key to HTML, compressed by zlib."""
