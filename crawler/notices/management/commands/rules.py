"""The command `rules`."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from crawler.notices.models import Rule
from crawler.notices.rules.applying import apply_to_present, preview
from crawler.notices.rules.deeds import undo
from crawler.notices.rules.foreign import ForeignRules, rules_of
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
        parser.add_argument(
            "--rehearsal", action="store_true", help="with --take: say what it would become, and keep nothing"
        )

    def handle(self, *, name: str, **options: Any) -> None:
        """Do what the options say."""
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"nobody here is called {name!r}")
        now = datetime.now(UTC)
        if options["take"]:
            foreign_rules = self._read(options["take"], options["program"])
            if options["rehearsal"]:
                self._rehearse(foreign_rules, options["folder"])
            else:
                count = take_foreign(user, foreign_rules, folder=options["folder"])
                self.stdout.write(f"{count} new rules")
            for text in foreign_rules.left_out:
                self.stdout.write(f"left out, it has no equal here: {text}")
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

    def _read(self, file: Path, program: str | None) -> ForeignRules:
        if program is None:
            raise CommandError("say with --program where the file is from")
        try:
            return rules_of(program, file.read_text())
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file}: {error}") from error

    def _rehearse(self, foreign_rules: ForeignRules, folder: str) -> None:
        for taken in foreign_rules.rules:
            rule = Rule(
                when=Rule.When.ARTICLE, folder=folder, deeds=list(taken.deeds), labels=list(taken.labels),
                **asdict(taken.conditions),
            )  # fmt: skip
            self.stdout.write(f"would become: {rule_in_words(rule)}")


def _rule(user: User, key: int) -> Rule:
    rule = Rule.objects.acting().filter(user=user, pk=key).first()
    if rule is None:
        raise CommandError(f"{user} has no rule {key}")
    return rule
