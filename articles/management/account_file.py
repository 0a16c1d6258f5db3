"""The base of the commands that write or read a file of one account."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from articles.models import Subscriber
from articles.personal.following import subscriber_of


class AccountFileCommand(BaseCommand):
    """A command with the name of an account and a file as its arguments."""

    file_help = "the ZIP file"

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("name", help="name of the account")
        parser.add_argument("file", type=Path, help=self.file_help)

    def handle(self, *, name: str, file: Path, **options: Any) -> None:
        """Find the account and do the work; a file that cannot be used ends it with a sentence."""
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"nobody here is called {name!r}")
        try:
            self.stdout.write(self.use_file(subscriber_of(user), file))
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror or error}") from error

    def use_file(self, subscriber: Subscriber, file: Path) -> str:
        """Write or read the file. Returns the sentence that is printed."""
        raise NotImplementedError
