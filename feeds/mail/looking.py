"""Looks into mailboxes: every ten minutes, an hour after a password that was not accepted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from crawler.database.secrets import UnreadableError
from crawler.isolation.calls import ProgramError
from crawler.text.marking import gettext_noop
from feeds.mail import calls
from feeds.mail.delivery import deliver_found
from feeds.mail.imap import WRONG_LOGIN
from feeds.mail.models import Mailbox
from feeds.mail.programs import ReadMail

PAUSE = timedelta(minutes=10)
PAUSE_AFTER_REFUSAL = timedelta(hours=1)
PAUSE_FOR_MORE = timedelta(seconds=30)
"""Time between looks while more is there: a server that always has more fills the disk no faster."""
SLACK = timedelta(minutes=1)
"""Time by which a look may come early: ticks are not exactly ten minutes apart."""
_OWN_FAULTS = {"busy"}
_TOO_SLOW = gettext_noop("it did not answer in time")
_TOO_COSTLY = gettext_noop("the mail server gave an answer that was not understood")


def look(pk: int, now: datetime) -> bool:
    """Look into a mailbox that is due and store what is new. Returns whether more is there.

    Each message is stored together with the note that it was read, so that a process that ends in the middle
    loses none. A server that has given its messages other numbers is looked at again in ten minutes, whatever
    more it has: one that does so at each look would be asked without an end.
    """
    rows = Mailbox.objects.filter(pk=pk)
    if not rows.due(now + SLACK).update(next_look=now + PAUSE):
        return False
    mailbox = rows.get()
    try:
        mail_look = calls.look_into(mailbox)
    except (ProgramError, UnreadableError) as error:
        _failed(mailbox, error, now)
        return False
    is_more = mail_look.is_more and mailbox.uid_validity in (0, mail_look.uid_validity)
    if mail_look.uid_validity != mailbox.uid_validity:
        rows.update(uid_validity=mail_look.uid_validity, last_uid=0, counted_uid=0)
        mailbox.uid_validity = mail_look.uid_validity
    for message in mail_look.messages:
        try:
            letter = _read(message.data)
        except ProgramError:  # no process could be started: it stays for the next look
            return False
        deliver_found(mailbox, message.uid, letter, datetime.now(UTC))
    changes: dict[str, Any] = {"last_look": now, "failing_since": None, "failure": ""}
    if is_more:
        changes["next_look"] = now + PAUSE_FOR_MORE
    rows.update(**changes)
    return is_more


def _read(data: bytes | None) -> ReadMail | None:
    """Return a message, None for one that cannot be read, whatever it does to its process."""
    if data is None:
        return None
    try:
        return calls.read(data)
    except ProgramError as error:
        if error.kind in _OWN_FAULTS:
            raise
        return None


def _failed(mailbox: Mailbox, error: ProgramError | UnreadableError, now: datetime) -> None:
    kind = error.kind if isinstance(error, ProgramError) else WRONG_LOGIN
    words = error.detail if isinstance(error, ProgramError) else str(error)
    if kind in {"too-slow", "too-costly", "too-large", "malformed"}:
        words = _TOO_SLOW if kind == "too-slow" else _TOO_COSTLY
    Mailbox.objects.filter(pk=mailbox.pk).update(
        last_look=now,
        next_look=now + (PAUSE_AFTER_REFUSAL if kind == WRONG_LOGIN else PAUSE),
        failing_since=mailbox.failing_since or now,
        failure=words[:300],
    )
