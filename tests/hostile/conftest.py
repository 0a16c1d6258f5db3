"""The product in this process, for hostile input: quick deadlines, and its pages on a live server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler

from crawler.terminals.client import terminal_client
from crawler.web.requests import Utf8WSGIRequest


@pytest.fixture
def product(
    settings: Any, live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Settings under which what fails is tried again within the test."""
    settings.FETCH_ALLOWED_NETWORKS = ("127.0.0.0/8",)
    settings.FETCH_HOST_SPACING_SECONDS = 0.0
    settings.FETCH_DEADLINE_SECONDS = 15.0  # ten were too few for neighbours beside four busy loops
    settings.CRAWL_LEASE_SLACK_SECONDS = 60.0
    settings.FEED_MIN_GAP_SECONDS = 600
    settings.DATA_DIR = tmp_path
    settings.PUBLIC_URL = live_server.url
    monkeypatch.setattr("crawler.frontier.decision.RETRY_SECONDS", 0.02)
    # the live server of tests has Django's application, not that of crawler/wsgi.py
    monkeypatch.setattr(WSGIHandler, "request_class", Utf8WSGIRequest)
    terminal_client.cache_clear()
    yield
    terminal_client().close()
    terminal_client.cache_clear()
