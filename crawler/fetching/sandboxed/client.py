"""Requests of the web server to the processes that fetch and read for it; started when needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import msgspec
from django.conf import settings

from crawler.failures import Failure
from crawler.fetching.sandboxed.programs import FETCH, Fetched
from crawler.isolation import confine
from crawler.isolation.calls import ProgramError, Programs

IDLE_SECONDS = 120.0
"""Time without a request after which the processes end."""
_HEAD_BYTES = 65_536

programs = Programs(
    ["crawler.fetching.sandboxed.programs"],
    IDLE_SECONDS,
    partial(confine.command, hide=settings.DATA_DIR, read=[settings.BASE_DIR], write=()),
)


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The bounds of one fetch, with its Accept header."""

    accept: str
    seconds: float
    max_bytes: int


def fetch(url: str, limits: FetchLimits) -> Fetched:
    """Return the document at an address. Raises ProgramError."""
    # A public demonstration would otherwise fetch any address for strangers.
    if settings.DEMO:
        raise ProgramError(Failure.BLOCKED_ADDRESS, "a demonstration fetches nothing")
    request = {
        "url": url,
        "accept": limits.accept,
        "user_agent": settings.FETCH_USER_AGENT,
        # Two seconds less than the caller waits: the named failure arrives instead of a killed process.
        "deadline": max(limits.seconds - 2, 1.0),
        "max_bytes": limits.max_bytes,
        "allowed_networks": [str(network) for network in settings.FETCH_ALLOWED_NETWORKS],
    }
    max_bytes = limits.max_bytes + _HEAD_BYTES
    encoded = programs.call(FETCH, request, None, seconds=limits.seconds, max_bytes=max_bytes)
    try:
        return msgspec.msgpack.decode(encoded, type=Fetched)
    except msgspec.MsgspecError as error:
        raise ProgramError(Failure.MALFORMED, "the process returned invalid output") from error
