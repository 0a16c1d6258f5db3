"""The app of accounts."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class AccountsConfig(AppConfig):
    name = "crawler.accounts"
    label = "accounts"
    verbose_name = gettext_lazy("Invitations")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect what happens at sign-ins and changes of passwords."""
        import_module("crawler.accounts.signals")
