"""The HTTP client and the threads of a terminal process, made from the settings; needs no database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

from django.conf import settings

from crawler.http.client import Client, ClientConfig
from crawler.http.gate import HostGate

THREADS = 32


@cache
def terminal_client() -> Client:
    """Return the HTTP client that all threads of this process share."""
    config = ClientConfig(
        user_agent=settings.FETCH_USER_AGENT,
        deadline=settings.FETCH_DEADLINE_SECONDS,
        max_bytes=settings.FETCH_MAX_BYTES,
        allowed_networks=tuple(str(network) for network in settings.FETCH_ALLOWED_NETWORKS),
    )
    return Client(config, HostGate(settings.DATA_DIR / "hosts", settings.FETCH_HOST_SPACING_SECONDS))


@cache
def terminal_threads() -> ThreadPoolExecutor:
    """Return the thread pool in which this process serves hosts side by side."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="host")
