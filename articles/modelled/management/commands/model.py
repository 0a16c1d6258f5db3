"""`manage.py model`: say whether the language model answers."""

from __future__ import annotations

import sys
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from articles.modelled.calls import ask_model

WORD = "Answer with the one word: ready"


class Command(BaseCommand):
    help = (
        "Ask the language model (MODEL_URL) for one word, and print its name, the answer and the seconds. "
        "The exit code is 0 if it answers, 1 if not, 2 if there is none."
    )
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask once."""
        if not settings.MODEL_URL:
            self.stderr.write("There is no language model: set MODEL_URL and MODEL_NAME.")
            sys.exit(2)
        begin = time.monotonic()
        report = ask_model([{"role": "user", "content": WORD}])
        seconds = time.monotonic() - begin
        if report.state != "done":
            self.stderr.write(f"{settings.MODEL_NAME} at {settings.MODEL_URL}: {report.detail}")
            sys.exit(1)
        words = " ".join(report.text.split())[:80]
        self.stdout.write(f"{settings.MODEL_NAME} answers in {seconds:.1f} s: {words}")
