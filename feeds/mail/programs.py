"""Programs in processes of their own: they read a message, look into a mailbox, end a subscription."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from crawler.fetching.http.addresses import AddressGuard
from crawler.fetching.http.guarded_sockets import CONNECT_SECONDS, guard_sockets
from crawler.fetching.sandboxed.programs import READING, SENDING
from crawler.isolation.calls import ProgramError, register
from crawler.reading.mail import Mail, read_message, source_key
from crawler.text.marking import gettext_noop
from feeds.mail.imap import ImapAccount, look

READ_MAIL, LOOK, UNSUBSCRIBE = "read-mail", "look-into-mailbox", "unsubscribe"
_ONE_CLICK = {"List-Unsubscribe": "One-Click"}


class ReadMail(msgspec.Struct, frozen=True):
    """A message, and what identifies the newsletter that it is an issue of."""

    mail: Mail
    source: str


def read(_: dict[str, Any], body: bytes) -> bytes:
    """Return the message in the body as MessagePack."""
    mail = read_message(body)
    return msgspec.msgpack.encode(ReadMail(mail, source_key(mail)))


def look_into(request: dict[str, Any], body: bytes) -> bytes:
    """Return the new messages of the account in the body, which is MessagePack, as MessagePack."""
    guard_sockets(AddressGuard(request["allowed_networks"]))
    return msgspec.msgpack.encode(look(msgspec.msgpack.decode(body, type=ImapAccount), time.time()))


def unsubscribe(request: dict[str, Any], _: bytes) -> bytes:
    """Send the POST that ends a subscription (RFC 8058). Raises ProgramError if it is not answered well."""
    import requests  # noqa: PLC0415 - only where it is used

    guard_sockets(AddressGuard(request["allowed_networks"]))
    try:
        with requests.Session() as session:
            session.trust_env = False
            with session.post(
                request["url"],
                data=_ONE_CLICK,
                headers={"User-Agent": request["user_agent"]},
                stream=True,
                allow_redirects=False,
                timeout=(CONNECT_SECONDS, CONNECT_SECONDS),
            ) as response:
                status = response.status_code
    except (requests.RequestException, OSError):
        raise ProgramError("no-server", gettext_noop("its server does not answer")) from None
    if not 200 <= status < 300:
        raise ProgramError("refused", gettext_noop("its server does not take the request"))
    return b""


register(READ_MAIL, read, READING)
register(LOOK, look_into, SENDING)
register(UNSUBSCRIBE, unsubscribe, SENDING)
