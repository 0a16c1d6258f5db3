"""`manage.py hubs`: a list of the subscriptions at WebSub hubs and their states."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from feeds.websub.models import HubSubscription
from feeds.websub.subscriptions import ask_again


class Command(BaseCommand):
    """A command that prints a line for each subscription."""

    help = "List the subscriptions at WebSub hubs; with --ask-again, ask the hubs anew at the next tick."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--ask-again", action="store_true", help="those that are not active")

    def handle(self, *args: Any, ask_again: bool, **options: Any) -> None:
        if not settings.PUBLIC_URL:
            self.stdout.write("PUBLIC_URL is not set: no hub could reach this deployment, so none is asked.")
        if ask_again:
            self._ask_again()
        for subscription in HubSubscription.objects.select_related("feed").order_by("feed_id"):
            until = f"until {subscription.expires:%Y-%m-%d %H:%M}" if subscription.expires else "-"
            self.stdout.write(
                f"{subscription.feed_id:>8}  {subscription.state:8} {until:23} "
                f"{subscription.pushes:>6} pushes  {subscription.hub}  {subscription.feed}"
                + (f"  ({subscription.detail})" if subscription.detail else "")
            )

    def _ask_again(self) -> None:
        idle = HubSubscription.objects.exclude(state=HubSubscription.State.ACTIVE)
        self.stdout.write(f"{ask_again(idle)} will be asked for at the next tick.")
