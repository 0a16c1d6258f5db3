"""`manage.py login ADDRESS`: keep a login for a feed or a page that asks for a password, or forget it."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from crawler.engine.logins import keep_login
from crawler.engine.models import SiteLogin
from crawler.fetching.http.logins import LoginError, without_login
from crawler.fetching.http.urls import BadUrl, canonical_url


class Command(BaseCommand):
    """A command that keeps logins encrypted, and shows for which addresses there are some."""

    help = (
        "Keep a login for an address and all below it. The password, or the value of a header or cookie, is "
        "asked for or read from standard input. Without an address: list the addresses with a login."
    )

    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", nargs="?", help="address of the feed or the page")
        kind = parser.add_mutually_exclusive_group()
        kind.add_argument("--user", help="name for HTTP Basic")
        kind.add_argument("--header", help="name of a header, such as X-Token")
        kind.add_argument("--cookie", action="store_true", help="a cookie, as `name=value`")
        kind.add_argument("--forget", action="store_true", help="delete the login")

    def handle(self, *args: Any, address: str | None, **options: Any) -> None:
        """Keep, forget or list logins."""
        if address is None:
            for login in SiteLogin.objects.all():
                self.stdout.write(f"{login.url}: {login.kind}, given {login.given:%Y-%m-%d}")
            return
        try:
            bare = canonical_url(without_login(address)[0])
            if options["forget"]:
                deleted, _ = SiteLogin.objects.filter(url=bare).delete()
                self.stdout.write(f"{bare}: {'forgotten' if deleted else 'there was no login'}")
                return
            kind, name = _kind(options)
            secret = getpass.getpass("Password, or value: ") if sys.stdin.isatty() else sys.stdin.readline()
            keep_login(bare, kind, secret.rstrip("\r\n"), name)
        except (BadUrl, LoginError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{bare}: kept")


def _kind(options: dict[str, Any]) -> tuple[str, str]:
    """Return the kind of a login and the name that belongs to it. Raises CommandError."""
    if options["user"]:
        return SiteLogin.Kind.BASIC, options["user"]
    if options["header"]:
        return SiteLogin.Kind.HEADER, options["header"]
    if options["cookie"]:
        return SiteLogin.Kind.COOKIE, ""
    raise CommandError("say --user NAME, --header NAME, --cookie or --forget")
