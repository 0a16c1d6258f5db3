"""The command `rules`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.notices.models import Rule
from crawler.notices.rules.applying import apply_to_present, preview
from crawler.notices.rules.deeds import undo
from crawler.notices.rules.foreign import rules_of
from crawler.notices.rules.taking import take_foreign
from crawler.notices.rules.wording import rule_in_words


class Command(BaseCommand):
    help = "List NAME's rules about articles, try, apply or undo one, or take another program's filters over."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("name", help="name of the account")
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--try", type=int, metavar="ID", help="count what it would hit of the last 30 days"
        )
        which.add_argument("--apply", type=int, metavar="ID", help="apply it to the articles that are here")
        which.add_argument("--undo", type=int, metavar="ID", help="undo all that it did")
        which.add_argument("--take", type=Path, metavar="FILE", help="make rules of a file of filters")
        parser.add_argument(
            "--program", choices=["miniflux", "freshrss", "newsblur"], help="with --take: where FILE is from"
        )
        parser.add_argument("--folder", default="", help="with --take: for the feeds of this folder alone")

    def handle(self, *, name: str, **options: Any) -> None:
        """Do what the options say."""
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"nobody here is called {name!r}")
        now = datetime.now(UTC)
        if options["take"]:
            self._take(user, options["take"], options["program"], options["folder"])
        elif options["try"]:
            looked_at, keys = preview(_rule(user, options["try"]), now)
            self.stdout.write(f"{len(keys)} of the {looked_at} articles of the last 30 days")
        elif options["apply"]:
            count = apply_to_present(_rule(user, options["apply"]), now)
            self.stdout.write(f"{count} articles")
        elif options["undo"]:
            count = undo(_rule(user, options["undo"]), now)
            self.stdout.write(f"{count} articles are as they were")
        else:
            for rule in Rule.objects.acting().filter(user=user).order_by("pk"):
                paused = " (paused)" if rule.paused else ""
                self.stdout.write(f"{rule.pk}  {rule_in_words(rule)}{paused}")

    def _take(self, user: User, file: Path, program: str | None, folder: str) -> None:
        if program is None:
            raise CommandError("say with --program where the file is from")
        try:
            foreign_rules = rules_of(program, file.read_text())
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file}: {error}") from error
        self.stdout.write(f"{take_foreign(user, foreign_rules, folder=folder)} new rules")
        for text in foreign_rules.left_out:
            self.stdout.write(f"left out, it has no equal here: {text}")


def _rule(user: User, key: int) -> Rule:
    rule = Rule.objects.acting().filter(user=user, pk=key).first()
    if rule is None:
        raise CommandError(f"{user} has no rule {key}")
    return rule
