"""`manage.py api_token USER`: print the user's key for the REST API, made when there is none."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rest_framework.authtoken.models import Token


class Command(BaseCommand):
    """A command that prints the token and nothing else, so that scripts can use it."""

    help = "Print the REST API token of a user; it is made when there is none."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="the name the user signs in with")

    def handle(self, *args: Any, user: str, **options: Any) -> None:
        account = get_user_model().objects.filter(username=user).first()
        if account is None:
            raise CommandError(f"there is no user {user!r}")
        token, _ = Token.objects.get_or_create(user=account)
        self.stdout.write(token.key)
