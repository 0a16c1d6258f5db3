"""The HTTP client and the threads of a terminal process, made from the settings; needs no database."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from django.conf import settings

from crawler.fetching.http.client import Client, ClientConfig
from crawler.fetching.http.gate import HostGate

# They wait for servers most of the time; documents are read in another process.
THREADS = 32


class LostFolderError(Exception):
    """An error raised when a folder that this process writes to is gone or cannot be written to."""


def check_folders() -> None:
    """Write a file to the folders of locks and of temporary files. Raises LostFolderError if that fails.

    Issue 56: without the folder of locks nothing was fetched any more, and each feed was told that it was
    malformed.
    """
    try:
        for folder in (settings.DATA_DIR / "hosts", Path(tempfile.gettempdir())):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
    except OSError as error:
        raise LostFolderError(f"a folder cannot be written to: {error}") from error


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
