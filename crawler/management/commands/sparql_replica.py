"""`manage.py sparql_replica`: follow the graph in PostgreSQL and publish snapshots for SPARQL."""

from __future__ import annotations

import logging
import os
import time
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from crawler.isolation import lifeline
from crawler.pipeline.sparql.mirror import MIRROR, Mirror
from crawler.pipeline.sparql.replica import Replica, home

log = logging.getLogger(__name__)
PAUSE_SECONDS = 5.0


class Command(BaseCommand):
    """A command that runs on each machine with a web server, and keeps its files under DATA_DIR."""

    help = "Keep the replica that answers SPARQL up to date."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="take over what there is, and end")

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)  # what the graph knows is for those who sign in
        try:
            replica = Replica()
        except OSError as error:
            raise CommandError(f"the replica cannot be opened; who else has it? {error}") from error
        mirror = None
        if settings.SPARQL_MIRROR_URL:
            file = home() / MIRROR
            mirror = Mirror(settings.SPARQL_MIRROR_URL, settings.SPARQL_MIRROR_LOGIN, file, replica.content)
        trouble = ""
        lifeline.tell_ready()
        while True:
            try:
                if mirror is not None:
                    mirror.look()
                changed = replica.follow()
                if mirror is not None:
                    mirror.send()
                    if mirror.trouble and mirror.trouble != trouble:
                        log.warning(mirror.trouble)
                    trouble = mirror.trouble
            except (DatabaseError, OSError) as error:
                # The database is away for a moment, or the disk is full: what was published stays.
                if options["once"]:
                    raise CommandError(str(error)) from error
                connection.close()
                changed = 0
                with suppress(OSError):
                    replica.tell(f"the replica for SPARQL waits: {type(error).__name__}: {error}")
            if options["once"]:
                self.stdout.write(f"{changed} graphs taken over")
                return
            time.sleep(PAUSE_SECONDS)
