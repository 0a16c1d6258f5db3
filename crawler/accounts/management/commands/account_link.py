"""The command that prints a link with which a person sets a new password."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from crawler.accounts.links import password_link


class Command(BaseCommand):
    help = "Print a link with which NAME sets a new password, once, within three days."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("name", help="name or mail address of the account")
        parser.add_argument("--create", action="store_true", help="make the account if there is none")

    def handle(self, *, name: str, create: bool, **options: Any) -> None:
        """Print the link."""
        users = User.objects.filter(Q(username=name) | Q(email__iexact=name))[:2]
        if len(users) > 1:
            raise CommandError(f"more than one account has {name!r} as its name or mail address")
        user = users[0] if users else None
        if user is None and create:
            user = User.objects.create_user(name)
        if user is None:
            raise CommandError(f"nobody here is called {name!r}; with --create the account is made")
        if not user.is_active:
            raise CommandError(f"the account {name!r} is closed")
        origin = settings.PUBLIC_URL or f"http://localhost:{settings.PORT}"
        self.stdout.write(password_link(user, origin))
