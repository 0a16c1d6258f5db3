"""The one HTTP client of a terminal process, made from the settings; needs no database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

from django.conf import settings

from crawler.http.client import Client, ClientConfig
from crawler.http.gate import HostGate

THREADS = 32


@cache
def terminal_client() -> Client:
    """Shared by all threads of the process."""
    config = ClientConfig(
        user_agent=settings.FETCH_USER_AGENT,
        deadline=settings.FETCH_DEADLINE_SECONDS,
        max_bytes=settings.FETCH_MAX_BYTES,
        allowed_networks=tuple(str(network) for network in settings.FETCH_ALLOWED_NETWORKS),
    )
    return Client(config, HostGate(settings.DATA_DIR / "hosts", settings.FETCH_HOST_SPACING_SECONDS))


@cache
def terminal_threads() -> ThreadPoolExecutor:
    """Hosts are served side by side by this many threads at most."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="host")
