"""Calls of the programs of newsletters (`feeds.mail.programs`)."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from django.conf import settings

from crawler.fetching.sandboxed import client
from crawler.isolation.calls import ProgramError
from crawler.reading.mail.body import MAX_BYTES
from crawler.text.marking import gettext_noop
from feeds.mail.imap import MAX_LOOK_BYTES, ImapAccount, MailLook
from feeds.mail.models import Mailbox
from feeds.mail.programs import LOOK, READ_MAIL, UNSUBSCRIBE, ReadMail

MAX_READ = 20_000_000
READ_SECONDS, SIGN_OFF_SECONDS, LOOK_PROGRAM_SECONDS = 20.0, 25.0, 90.0

Answer = TypeVar("Answer")

client.programs.add_module("feeds.mail.programs")


def read(data: bytes) -> ReadMail:
    """Read a message in a process of its own, without network. Raises ProgramError."""
    reply = client.programs.call(READ_MAIL, {}, data, seconds=READ_SECONDS, max_bytes=MAX_READ)
    return _decoded(reply, ReadMail)


def look_into(mailbox: Mailbox) -> MailLook:
    """Return the new messages of a mailbox. Raises ProgramError, and UnreadableError for its secret."""
    account = ImapAccount(
        host=mailbox.host,
        port=mailbox.port,
        security=mailbox.security,
        login=mailbox.login,
        method=mailbox.sign_in,
        secret=mailbox.secret,
        folder=mailbox.folder,
        uid_validity=mailbox.uid_validity,
        last_uid=mailbox.last_uid,
        max_message=MAX_BYTES,
    )
    reply = client.programs.call(
        LOOK,
        _networks(),
        msgspec.msgpack.encode(account),
        seconds=LOOK_PROGRAM_SECONDS,
        max_bytes=MAX_LOOK_BYTES + MAX_BYTES + 1_000_000,
    )
    return _decoded(reply, MailLook)


def sign_off(url: str) -> None:
    """End a subscription by one POST. Raises ProgramError."""
    request = _networks() | {"url": url, "user_agent": settings.FETCH_USER_AGENT}
    client.programs.call(UNSUBSCRIBE, request, None, seconds=SIGN_OFF_SECONDS, max_bytes=1000)


def _networks() -> dict[str, object]:
    if settings.DEMO:
        raise ProgramError("refused-address", gettext_noop("a demonstration fetches nothing"))
    return {"allowed_networks": [str(network) for network in settings.FETCH_ALLOWED_NETWORKS]}


def _decoded(encoded: bytes, kind: type[Answer]) -> Answer:
    try:
        return msgspec.msgpack.decode(encoded, type=kind)
    except msgspec.MsgspecError as error:
        raise ProgramError("malformed", "the process returned invalid output") from error
