"""`manage.py doctor`: say what is wrong with this deployment, and what to do."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from crawler.operation.deployment.doctor import Finding, examined

MARKS = {"fine": "✓", "note": "!", "bad": "✗"}
EXIT_CODES = {"fine": 0, "note": 1, "bad": 2}
"""As monitoring programs know them: fine, warning, critical."""


class Command(BaseCommand):
    help = (
        "Say what is wrong with this deployment, and what to do; www.iana.org is asked for the time. The "
        "exit code is 0 if all is fine, 1 if something is worth knowing, 2 if something is wrong."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="findings as JSON")
        parser.add_argument("--quiet", action="store_true", help="only what is not fine")

    def handle(self, *args: Any, **options: Any) -> None:
        """Examine everything, and print findings as they come. Ends with the worst one's exit code."""
        findings: list[Finding] = []
        for finding in examined():
            findings.append(finding)
            if not options["json"] and not (options["quiet"] and finding.level == "fine"):
                self._print(finding)
        if options["json"]:
            self.stdout.write(json.dumps([asdict(finding) for finding in findings], indent=2))
        sys.exit(max((EXIT_CODES[finding.level] for finding in findings), default=0))

    def _print(self, finding: Finding) -> None:
        style = {"fine": self.style.SUCCESS, "note": self.style.WARNING, "bad": self.style.ERROR}
        self.stdout.write(f"{style[finding.level](MARKS[finding.level])} {finding.sentence}")
        if finding.level != "fine" and finding.remedy:
            self.stdout.write(f"  → {finding.remedy}")
        self.stdout.flush()
