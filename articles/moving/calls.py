"""Calls of the programs that read other accounts and their files (`articles.moving.program`)."""

from __future__ import annotations

import msgspec
from django.conf import settings

from articles.moving.program import CPU_SECONDS, MOVE_IN, READ_EXPORT
from articles.moving.values import ForeignAccount, MovedPart, MovingError
from crawler.fetching.sandboxed import client
from crawler.isolation.calls import ProgramError
from crawler.text.marking import gettext_noop

MAX_FILE = 100 * 1024 * 1024
MAX_PART = 150_000_000
MAX_EXPORT = 400_000_000
STEP_SECONDS, FILE_SECONDS = 150.0, CPU_SECONDS + 30.0

client.programs.add_module("articles.moving.program")


def next_part(account: ForeignAccount) -> MovedPart:
    """Return the next part of an account, read in a process of its own. Takes up to 150 seconds.

    Raises MovingError, whose detail is a sentence for people, in English and marked for translation.
    """
    if settings.DEMO:
        raise MovingError("refused-address", gettext_noop("a demonstration fetches nothing"))
    request: dict[str, object] = {
        "allowed_networks": [str(network) for network in settings.FETCH_ALLOWED_NETWORKS],
        "user_agent": settings.FETCH_USER_AGENT,
    }
    return _part(MOVE_IN, request, msgspec.msgpack.encode(account), STEP_SECONDS, MAX_PART)


def read_export_file(name: str, data: bytes) -> MovedPart:
    """Return what an exported file holds, read in a process without network. Raises MovingError."""
    if len(data) > MAX_FILE:
        raise MovingError("too-large", gettext_noop("The file is larger than 100 MB."))
    return _part(READ_EXPORT, {"name": name[:500]}, data, FILE_SECONDS, MAX_EXPORT)


def _part(program: str, request: dict[str, object], body: bytes, seconds: float, max_bytes: int) -> MovedPart:
    try:
        reply = client.programs.call(program, request, body, seconds=seconds, max_bytes=max_bytes)
        return msgspec.msgpack.decode(reply, type=MovedPart)
    except ProgramError as error:
        raise MovingError(error.kind, _sentence(error)) from None
    except msgspec.MsgspecError:
        raise MovingError("malformed", gettext_noop("what came could not be read")) from None


def _sentence(error: ProgramError) -> str:
    """Return a failure in words: the program's own, unless a limit or a fault of ours ended it."""
    if error.kind == "busy":
        return gettext_noop("this server is busy; try it again in a minute")
    if error.kind == "too-costly" or error.detail in ("", "it did not begin"):
        return gettext_noop("it takes more time or memory than is allowed")
    if error.kind == "malformed":
        return gettext_noop("what came could not be read")
    return error.detail
