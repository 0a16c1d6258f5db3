"""`manage.py web`: run only the web server, for a deployment on several machines."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crawler.operation.deployment.processes import bind
from crawler.operation.deployment.web_server import WebServer


class Command(BaseCommand):
    help = "Run the web server alone, until Ctrl-C or SIGTERM."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--bind",
            metavar="ADDRESS:PORT",
            default=bind(),
            help="where to listen (default: by LISTEN_ADDRESS, ALLOWED_HOSTS and PORT)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Answer requests until a signal ends the server. Raises CommandError when it cannot listen."""
        try:
            WebServer(options["bind"]).run()
        except (OSError, OverflowError, ValueError) as error:
            raise CommandError(f"cannot listen on {options['bind']}: {error}") from error
