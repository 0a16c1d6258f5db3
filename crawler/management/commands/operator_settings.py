"""`manage.py operator_settings`: list what operators can choose, choose a value, or go back."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crawler.engine.chosen import CHOOSABLE, ChoiceError, choose, chosen, origin_of, read_switch
from crawler.engine.left_out import LEFT_OUT, PLANNED

SWITCH_WORDS = {"1", "true", "yes", "on", "0", "false", "no", "off"}


class Command(BaseCommand):
    """A command that shows and changes what operators choose, as the pages of Settings do."""

    requires_system_checks = ()
    help = (
        "List the settings that operators can choose, each with its value, where that is from (environment, "
        "chosen, default) and when a choice is in force; or choose one. The environment wins."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--set", nargs=2, metavar=("NAME", "VALUE"), help="choose a value")
        group.add_argument("--reset", metavar="NAME", help="go back to the default")
        parser.add_argument("--json", action="store_true", help="print one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        """Change what was named, and print it, or everything."""
        name, value = options["set"] or (options["reset"], None)
        if name is not None:
            _check(name)
            if (
                value is not None
                and CHOOSABLE[name].read is read_switch
                and value.lower() not in SWITCH_WORDS
            ):
                raise CommandError(f"{name} is yes or no, not {value!r}")
            try:
                choose(name, value)
            except ChoiceError as error:
                raise CommandError(f"{name}: {error}") from error
        for each in [name] if name is not None else CHOOSABLE:
            self._print(each, as_json=options["json"])

    def _print(self, name: str, *, as_json: bool) -> None:
        choosable, value = CHOOSABLE[name], chosen(name)
        if choosable.is_secret:
            value = "(set)" if value else ""
        origin = str(origin_of(name))
        if as_json:
            row = {"name": name, "value": value, "origin": origin, "in_force": str(choosable.in_force)}
            self.stdout.write(json.dumps(row))
            return
        display_value = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
        self.stdout.write(f"{name}: {display_value} ({origin}; a choice holds {choosable.in_force})")


def _check(name: str) -> None:
    """Raise CommandError for a variable that cannot be chosen, with the reason."""
    if name in CHOOSABLE:
        return
    if name in PLANNED:
        raise CommandError(f"{name} is chosen by `planning --{PLANNED[name].replace('_', '-')}`")
    if name in LEFT_OUT:
        raise CommandError(f"{name} is set by the environment only. {LEFT_OUT[name]}")
    raise CommandError(f"there is no setting {name}")
