"""`manage.py api_token USER`: print a key for the REST API, or list and take back those there are."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rest_framework.authtoken.models import Token

from crawler.web.models import ApiToken
from crawler.web.scopes import MANAGE, MARK, READ, SCOPES

MAY = {READ: "reads", MARK: "reads and marks", MANAGE: "reads and changes"}


class Command(BaseCommand):
    """A command that prints the token and nothing else, so that scripts can use it."""

    help = "Print a token for the REST API: the user's own, or with --name a new one with a name."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="the name the user signs in with")
        parser.add_argument("--name", help="make a token of this name, which can be taken back by it")
        parser.add_argument(
            "--scope", choices=SCOPES, default=MANAGE,
            help="with --name: what it may do; read, mark what is the user's own, or manage all (default)",
        )  # fmt: skip
        parser.add_argument(
            "--read-only", dest="scope", action="store_const", const=READ, help="the same as --scope read"
        )
        parser.add_argument("--list", action="store_true", help="list the tokens that have a name")
        parser.add_argument("--revoke", metavar="NAME", help="take back the token of this name")

    def handle(self, *args: Any, user: str, **options: Any) -> None:
        account = get_user_model().objects.filter(username=user).first()
        if account is None:
            raise CommandError(f"there is no user {user!r}")
        if options["list"]:
            self._list(account)
        elif options["revoke"]:
            if not ApiToken.objects.filter(user=account, name=options["revoke"]).delete()[0]:
                raise CommandError(f"{user} has no token named {options['revoke']!r}")
        elif options["name"]:
            self.stdout.write(ApiToken.make(account, options["name"], scope=options["scope"])[1])
        else:
            token, _ = Token.objects.get_or_create(user=account)
            self.stdout.write(token.key)

    def _list(self, account: User) -> None:
        for row in ApiToken.objects.filter(user=account):
            used = f"last used {row.last_used:%Y-%m-%d}" if row.last_used else "not used yet"
            self.stdout.write(f"{row.name}  …{row.ending}  {MAY[row.scope]}, {used}")
