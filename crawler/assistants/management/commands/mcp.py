"""`manage.py mcp`: the Model Context Protocol over standard input and output, for one person."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from crawler.accounts.assistants.callers import Caller
from crawler.web.scopes import MARK, SCOPES, scopes_open_to, with_included


class Command(BaseCommand):
    """Answers an assistant that starts this command; it ends when its input ends."""

    help = "Answer an assistant (Model Context Protocol) over standard input and output."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options of this command."""
        parser.add_argument("--user", default="", help="Whose articles; the only person where there is one.")
        parser.add_argument("--scope", choices=SCOPES, default=MARK, help="What it may do (default: mark).")

    def handle(self, *args: Any, **options: Any) -> None:
        """Answer until the input ends."""
        from mcp.server.stdio import stdio_server  # noqa: PLC0415 - only here

        from crawler.assistants.server import server_for  # noqa: PLC0415 - only here

        user = _user(options["user"])
        scopes = with_included([options["scope"]]) & scopes_open_to(user)
        caller = Caller(user, scopes, "stdio", "stdio")

        async def serve() -> None:
            async with stdio_server() as (reading, writing):
                server = server_for(caller)
                await server.run(reading, writing, server.create_initialization_options())

        asyncio.run(serve())


def _user(name: str) -> User:
    users = User.objects.filter(is_active=True)
    if name:
        user = users.filter(username=name).first()
        if user is None:
            raise CommandError(f"Nobody here is called {name}.")
        return user
    matches = list(users.order_by("pk")[:2])
    if len(matches) != 1:
        raise CommandError("Say whose articles to read: --user NAME.")
    return matches[0]
