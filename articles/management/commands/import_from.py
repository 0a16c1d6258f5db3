"""The command `import_from`."""

from __future__ import annotations

import getpass
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from articles.moving.models import Move
from articles.moving.taking import begin_file, begin_move, go_on
from articles.moving.values import MovingError
from articles.moving.wording import came, sentence_of
from articles.personal.following import subscriber_of
from crawler.web.limits import LimitReached
from crawler.web.sentences import translated

SECRET = "FRESHET_IMPORT_SECRET"  # noqa: S105 - the name of a variable


class Command(BaseCommand):
    help = (
        "Take an account at another feed reader over for NAME: feeds, folders, articles, marks, labels, "
        f"rules. The password or token is read from {SECRET}, else from the terminal or standard input."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("name", help="name of the account here")
        parser.add_argument("kind", choices=Move.Kind.values, help="interface of the other reader, or file")
        parser.add_argument("source", help="address of the other reader, or the file that it has written")
        parser.add_argument("--login", default="", help="name of the account there")
        parser.add_argument("--rehearsal", action="store_true", help="count what would come, change nothing")

    def handle(self, *, name: str, kind: str, source: str, **options: Any) -> None:
        """Take the account over, a part after the other, and say what came."""
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"nobody here is called {name!r}")
        subscriber, is_rehearsal = subscriber_of(user), options["rehearsal"]
        try:
            if kind == Move.Kind.FILE:
                file = Path(source)
                move = begin_file(subscriber, file.name, file.read_bytes(), is_rehearsal=is_rehearsal)
            else:
                move = begin_move(
                    subscriber, kind, source, options["login"], _secret(), is_rehearsal=is_rehearsal
                )
        except (MovingError, LimitReached) as error:
            raise CommandError(translated(str(error))) from error
        except OSError as error:
            raise CommandError(f"{source}: {error.strerror or error}") from error
        self._follow(move)

    def _follow(self, move: Move) -> None:
        last_sentence = ""
        while (pause := go_on(move.pk, datetime.now(UTC))) is not None:
            move.refresh_from_db()
            if (sentence := sentence_of(move)) != last_sentence and pause:
                self.stderr.write(last_sentence := sentence)
            time.sleep(min(pause, 30.0))
        move.refresh_from_db()
        if move.state == Move.State.FAILED:
            raise CommandError(sentence_of(move))
        self.stdout.write(sentence_of(move))
        for line in came(move):
            self.stdout.write(f"  {line}")
        for line in move.left_out:
            self.stdout.write(f"  left out: {translated(line)}")


def _secret() -> str:
    """Return the secret without that it stands in the list of processes."""
    if secret := os.environ.get(SECRET):
        return secret
    return getpass.getpass("Password or token: ") if sys.stdin.isatty() else sys.stdin.readline().strip()
