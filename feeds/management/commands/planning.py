"""`manage.py planning [--policy NAME] ...`: show how visits are planned, or plan them otherwise."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from feeds.models import PlanningRules
from feeds.visiting.rules import in_force, stored_rules

FIELDS = ("policy", "budget", "audience_weight", "active_only", "training_max_ticks")


class Command(BaseCommand):
    """A command that shows and changes the rules of planning."""

    requires_system_checks = ()
    help = (
        "Show the rules by which visits to feeds are planned, or change some: they hold from the next tick "
        "on. The value `default` leaves a rule to the settings again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--policy", choices=[*PlanningRules.Policy.values, "default"])
        parser.add_argument("--budget", help="visits per feed and hour")
        parser.add_argument("--audience-weight", help="c, the weight of a subscriber")
        parser.add_argument(
            "--active-only", choices=["yes", "no", "default"], help="count only subscribers who read the feed"
        )
        parser.add_argument("--training-max-ticks", help="longest wait in training, in ticks")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        """Change what was named, and print what is in force."""
        row = stored_rules()
        changes = {name: options[name] for name in FIELDS if options[name] is not None}
        for name, text in changes.items():
            setattr(row, name, _value(name, text))
        if changes:
            try:
                row.full_clean()
            except ValidationError as error:
                raise CommandError("; ".join(error.messages)) from error
            row.save()
        chosen = asdict(in_force(row))
        if options["json"]:
            self.stdout.write(json.dumps(chosen))
            return
        for name, value in chosen.items():
            origin = "chosen" if getattr(row, name) not in ("", None, False) else "by the settings"
            self.stdout.write(f"{name}: {value} ({origin})")


def _value(name: str, text: str) -> str | bool | None:
    """Return the value of a rule as its row has it."""
    if name == "active_only":
        return text == "yes"
    if text == "default":
        return "" if name == "policy" else None
    return text
