"""Calls of the programs that read files of saved pages (`articles.saved.programs`)."""

from __future__ import annotations

import msgspec
from django.utils.translation import gettext as _

from articles.saved.programs import (
    CLEAN_SAVED_PAGES,
    CPU_SECONDS,
    MAX_PACKED,
    READ_SAVED_FILE,
    REFUSED,
    CleanPage,
    ReadFile,
)
from crawler.fetching.sandboxed import client
from crawler.isolation.calls import ProgramError

MAX_FILE = 100 * 1024 * 1024
MAX_READ = MAX_PACKED + 16 * 1024 * 1024
MAX_CLEANED = 100_000_000
READ_SECONDS = CPU_SECONDS + 15.0

client.programs.add_module("articles.saved.programs")


class SavedFileError(ValueError):
    """A file of saved pages that cannot be used; the message is a sentence for people."""


def read_file(name: str, data: bytes) -> ReadFile:
    """Read a file in a process of its own, without network. Raises SavedFileError."""
    if len(data) > MAX_FILE:
        raise SavedFileError(_("The file is larger than %(most)d MB.") % {"most": MAX_FILE >> 20})
    try:
        reply = client.programs.call(
            READ_SAVED_FILE, {"name": name}, data, seconds=READ_SECONDS, max_bytes=MAX_READ
        )
        return msgspec.msgpack.decode(reply, type=ReadFile)
    except ProgramError as error:
        raise SavedFileError(_sentence(error)) from error
    except msgspec.MsgspecError as error:
        raise SavedFileError(_("The file could not be read.")) from error


def clean_part(part: bytes) -> list[CleanPage]:
    """Return the pages of a packed part with sanitised HTML. Raises ProgramError."""
    reply = client.programs.call(CLEAN_SAVED_PAGES, {}, part, seconds=READ_SECONDS, max_bytes=MAX_CLEANED)
    try:
        return msgspec.msgpack.decode(reply, type=list[CleanPage])
    except msgspec.MsgspecError as error:
        raise ProgramError("malformed", "the process returned invalid output") from error


def _sentence(error: ProgramError) -> str:
    if error.kind == REFUSED:
        return error.detail
    if error.kind == "busy":
        return _("The server is busy. Try it again in a minute.")
    if error.kind in {"too-slow", "too-costly", "too-large"}:
        return _("The file takes more time or memory than is allowed. Try it in smaller parts.")
    return _("The file could not be read.")
