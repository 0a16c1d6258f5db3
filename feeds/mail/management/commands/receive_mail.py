"""`manage.py receive_mail`: a message from a mail server's pipe, with exit codes of sysexits.h."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NoReturn

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandParser
from django.db import InterfaceError, OperationalError

from crawler.isolation.calls import ProgramError
from crawler.reading.mail.body import MAX_BYTES
from feeds.mail import calls
from feeds.mail.delivery import deliver, take_turn
from feeds.mail.models import MailAddress


class Command(BaseCommand):
    """A command that stores one message. Its exit code tells a mail server what to do with the message."""

    help = (
        "Take a message from standard input, for a mail server's pipe. Exits with 0 when it is taken, 67 for "
        "an unknown address, 65 for what is no message, 75 when the mail server should try again later."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--to",
            default="",
            metavar="ADDRESS",
            help="the address that it was sent to; else the message's own headers say",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Take the message, or exit with a code that says why not."""
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
        try:
            self._take(data, options["to"])
        except (OperationalError, InterfaceError, ImproperlyConfigured):
            self._end(os.EX_TEMPFAIL, "the database does not answer: try again later")

    def _take(self, data: bytes, to: str) -> None:
        address = _known([to]) if to else None
        if to and address is None:
            self._end(os.EX_NOUSER, "there is no such address")
        try:
            letter = calls.read(data)
        except ProgramError as error:
            if error.kind == "busy":
                self._end(os.EX_TEMPFAIL, "too much is going on: try again later")
            self._end(os.EX_DATAERR, "this is no message that can be read")
        address = address or _known(letter.mail.recipients)
        if address is None:
            self._end(os.EX_NOUSER, "there is no such address")
        now = datetime.now(UTC)
        if not take_turn(address, now):
            self._end(os.EX_TEMPFAIL, "too many messages to this address within an hour: try again later")
        deliver(address, letter, now)

    def _end(self, code: int, words: str) -> NoReturn:
        self.stderr.write(words)
        raise SystemExit(code)


def _known(addresses: Iterable[str]) -> MailAddress | None:
    """Return the first of these that is somebody's address."""
    keys = [address.strip(" <>").partition("@")[0].partition("+")[0].lower() for address in addresses]
    rows = {
        row.key: row
        for row in MailAddress.objects.select_related("user").filter(key__in=keys, user__is_active=True)
    }
    return next((rows[key] for key in keys if key in rows), None)
