"""`manage.py change_crawl N`: queue failures again, change its scope, stop or resume it, save its figures."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crawler.engine.models import Host
from crawler.engine.wake import wake_controller
from crawler.frontier.charts import as_csv
from crawler.frontier.crawls import cancel, lead_by, pause, refusal_of, requeue, rescope, resume
from crawler.frontier.models import Crawl
from crawler.frontier.scope import ScopeError


class Command(BaseCommand):
    """A command that does to a crawl what its page does."""

    help = "Queue a crawl's failures again, change its scope, stop, resume or cancel it, or save its figures."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("crawl", type=int, metavar="CRAWL")
        parser.add_argument("--requeue", action="store_true", help="queue what failed again")
        parser.add_argument(
            "--failure", action="append", default=[], help="only of this cause; may come often"
        )
        parser.add_argument("--host", help="only of this host")
        parser.add_argument("--scope", action="append", metavar="REGEX", help="the new scope; may come often")
        parser.add_argument("--own-sites", action="store_true", help="no scope: the sites of the seeds")
        parser.add_argument("--query", metavar="SPARQL", help="another query that leads it; empty: none")
        state = parser.add_mutually_exclusive_group()
        state.add_argument("--stop", action="store_true", help="hand out no more; it can be resumed")
        state.add_argument("--resume", action="store_true")
        state.add_argument("--cancel", action="store_true")
        parser.add_argument("--figures", type=Path, metavar="FILE.csv", help="save its figures by minute")

    def handle(self, *args: Any, crawl: int, **options: Any) -> None:
        """Do what was asked, and say what came of it."""
        row = Crawl.objects.filter(pk=crawl).first()
        if row is None:
            raise CommandError(f"there is no crawl {crawl}")
        if options["scope"] or options["own_sites"]:
            try:
                removed_count = rescope(row, options["scope"] or [])
            except ScopeError as error:
                raise CommandError(str(error)) from error
            self.stdout.write(f"{removed_count} URLs left the queue")
        if options["query"] is not None:
            if why := refusal_of(options["query"]):
                raise CommandError(why)
            lead_by(row, options["query"])
            self.stdout.write("it follows what the query names from now on")
        if options["requeue"]:
            count = requeue(row, options["failure"], self._host(options["host"]))
            self.stdout.write(f"{count} URLs queued again")
        if options["figures"]:
            options["figures"].write_text("".join(as_csv(row)))
        self._set_state(row, options)
        row.refresh_from_db()
        self.stdout.write(f"crawl {crawl} is {row.get_state_display()}")
        wake_controller()

    def _host(self, name: str | None) -> int | None:
        """Return the key of a host. Raises CommandError for an unknown one."""
        if name is None:
            return None
        host = Host.objects.filter(name=name).first()
        if host is None:
            raise CommandError(f"no host is called {name!r}")
        return host.pk

    def _set_state(self, crawl: Crawl, options: dict[str, Any]) -> None:
        """Stop, resume or cancel. Raises CommandError if the crawl's state forbids it."""
        rows = Crawl.objects.filter(pk=crawl.pk)
        if (
            (options["stop"] and not pause(rows))
            or (options["resume"] and not resume(crawl))
            or (options["cancel"] and not cancel(rows))
        ):
            raise CommandError(f"crawl {crawl.pk} is {crawl.get_state_display()}: nothing was changed")
