"""The app of accounts."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "crawler.accounts"
    label = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect what happens at sign-ins and changes of passwords."""
        import_module("crawler.accounts.signals")
