"""A look into a folder of an IMAP server, without changing anything in it. Knows no Django."""

from __future__ import annotations

import base64
import imaplib
import re
import socket
import ssl
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Any

import msgspec

from crawler.fetching.http.guarded_sockets import RefusedError
from crawler.text.marking import gettext_noop

MAX_MESSAGES = 50
MAX_LOOK_BYTES = 20_000_000
FIRST_DAYS = 7
LOOK_SECONDS = 40.0
"""Time after which a look ends with the messages that it has."""
ANSWER_SECONDS = 20.0
WRONG_LOGIN = "wrong-login"
_SIZE = re.compile(rb"RFC822\.SIZE (\d{1,15})")
_UID = re.compile(rb"UID (\d{1,15})")


class ImapAccount(msgspec.Struct, frozen=True):
    """A folder of an account, and up to where it was read. Its secret is in no text made of it."""

    host: str
    port: int
    security: str
    login: str
    method: str
    secret: str
    folder: str
    uid_validity: int
    last_uid: int
    max_message: int

    def __repr__(self) -> str:
        return f"ImapAccount({self.host!r}, {self.login!r})"


class FoundMessage(msgspec.Struct, frozen=True):
    """A message with its UID; no `data` for one that is too large."""

    uid: int
    data: bytes | None


class MailLook(msgspec.Struct, frozen=True):
    """The result of a look: new messages in the order of their UIDs, and whether more are there."""

    uid_validity: int
    messages: tuple[FoundMessage, ...] = ()
    is_more: bool = False
    last_uid: int = 0


class MailboxError(Exception):
    """Error for a mailbox that cannot be read: `kind`, and `detail` for people. Never a server's own words,
    which may repeat a password.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind, self.detail = kind, detail


def look(account: ImapAccount, now: float) -> MailLook:
    """Return the new messages of a folder, those of the last days at the first look. Raises MailboxError."""
    try:
        client = _connected(account)
    except RefusedError as error:
        raise MailboxError("refused-address", str(error)) from None
    except ssl.SSLError:
        raise MailboxError(
            "no-tls", gettext_noop("the connection could not be encrypted, or its certificate is not valid")
        ) from None
    except TimeoutError:
        raise MailboxError("too-slow", gettext_noop("it did not answer in time")) from None
    except socket.gaierror:
        raise MailboxError("no-host", gettext_noop("there is no server of this name")) from None
    except (OSError, imaplib.IMAP4.error, ValueError):
        raise MailboxError("no-server", gettext_noop("no mail server answers there")) from None
    try:
        _sign_in(client, account)
        return _messages(client, account, now)
    except MailboxError:
        raise
    except TimeoutError:
        raise MailboxError("too-slow", gettext_noop("it did not answer in time")) from None
    except (OSError, imaplib.IMAP4.error, ValueError, IndexError, TypeError, AttributeError):
        raise MailboxError(
            "broken", gettext_noop("the mail server gave an answer that was not understood")
        ) from None
    finally:
        with suppress(Exception):
            client.logout()


def _connected(account: ImapAccount) -> imaplib.IMAP4:
    context = ssl.create_default_context()
    if account.security == "tls":
        return imaplib.IMAP4_SSL(account.host, account.port, ssl_context=context, timeout=ANSWER_SECONDS)
    client = imaplib.IMAP4(account.host, account.port, timeout=ANSWER_SECONDS)
    if account.security == "starttls":
        if "STARTTLS" not in client.capabilities:
            raise MailboxError("no-tls", gettext_noop("the mail server offers no encryption by STARTTLS"))
        client.starttls(context)
    elif not ip_address(client.sock.getpeername()[0]).is_loopback:
        raise MailboxError(
            "no-tls", gettext_noop("without encryption only a server on this machine is asked")
        )
    return client


def _sign_in(client: imaplib.IMAP4, account: ImapAccount) -> None:
    try:
        if account.method == "token":
            words = f"user={account.login}\1auth=Bearer {account.secret}\1\1"
            # A second question holds an error; the answer to it is empty.
            answers = iter((words.encode(), b""))
            client.authenticate("XOAUTH2", lambda _: next(answers, b""))
        elif (account.login + account.secret).isascii():
            client.login(account.login, account.secret)
        else:
            plain = f"\0{account.login}\0{account.secret}".encode()
            client.authenticate("PLAIN", lambda _: plain)
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error:
        raise MailboxError(
            WRONG_LOGIN, gettext_noop("the mail server does not accept this name and password")
        ) from None


def _messages(client: imaplib.IMAP4, account: ImapAccount, now: float) -> MailLook:
    status, _ = client.select(f'"{folder_name(account.folder)}"', readonly=True)
    if status != "OK":
        raise MailboxError("no-folder", gettext_noop("there is no folder of this name"))
    validity = int(client.response("UIDVALIDITY")[1][0] or 0)
    last = account.last_uid if validity == account.uid_validity else 0
    uids = _new_uids(client, last, now)
    sizes = _sizes(client, uids[:MAX_MESSAGES])
    begun, size = time.monotonic(), 0
    messages: list[FoundMessage] = []
    for uid in uids[:MAX_MESSAGES]:
        length = sizes.get(uid, 0)
        if length > account.max_message:
            messages.append(FoundMessage(uid, None))
            continue
        if messages and (size + length > MAX_LOOK_BYTES or time.monotonic() - begun > LOOK_SECONDS):
            break
        data = _body(client, uid)
        size += len(data or b"")
        messages.append(FoundMessage(uid, data))
    last = max([last, *(message.uid for message in messages)])
    return MailLook(validity, tuple(messages), len(messages) < len(uids), last)


def _new_uids(client: imaplib.IMAP4, last: int, now: float) -> list[int]:
    if last:
        _, data = client.uid("SEARCH", "UID", f"{last + 1}:*")
    else:
        since = datetime.fromtimestamp(now, UTC) - timedelta(days=FIRST_DAYS)
        month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][
            since.month - 1
        ]
        _, data = client.uid("SEARCH", "SINCE", f"{since.day:02}-{month}-{since.year}")
    # `n:*` names the last message even if its UID is below n.
    return sorted({int(uid) for uid in (data[0] or b"").split() if int(uid) > last})


def _sizes(client: imaplib.IMAP4, uids: list[int]) -> dict[int, int]:
    if not uids:
        return {}
    _, data = client.uid("FETCH", ",".join(map(str, uids)), "(UID RFC822.SIZE)")
    sizes: dict[int, int] = {}
    for line in data:
        text: Any = line[0] if isinstance(line, tuple) else line
        if text and (uid := _UID.search(text)) and (size := _SIZE.search(text)):
            sizes[int(uid[1])] = int(size[1])
    return sizes


def _body(client: imaplib.IMAP4, uid: int) -> bytes | None:
    """Return a message, None for one that was deleted meanwhile."""
    _, data = client.uid("FETCH", str(uid), "(BODY.PEEK[])")
    return next((part[1] for part in data if isinstance(part, tuple)), None)


def folder_name(name: str) -> str:
    """Return a folder's name as IMAP writes it: other letters in UTF-7 of its own (RFC 3501, 5.1.3)."""
    pieces: list[str] = []
    for run in re.findall(r"[\x20-\x7e]+|[^\x20-\x7e]+", name):
        if run.isascii() and run.isprintable():
            pieces.append(run.replace("&", "&-"))
        else:
            encoded = base64.b64encode(run.encode("utf-16-be")).decode().rstrip("=").replace("/", ",")
            pieces.append(f"&{encoded}-")
    return "".join(pieces).replace("\\", "\\\\").replace('"', '\\"')
