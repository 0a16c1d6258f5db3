"""The app of accounts."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy


class AccountsConfig(AppConfig):
    name = "crawler.accounts"
    label = "accounts"
    verbose_name = gettext_lazy("Invitations")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect what happens at sign-ins and changes of passwords."""
        import_module("crawler.accounts.signals")
        # allauth reads the rate at each attempt, so that a choice of operators is in force at once.
        settings.ACCOUNT_RATE_LIMITS["signup"] = lazy(_sign_ups_per_address, str)()


def _sign_ups_per_address() -> str:
    """Return how many attempts to sign up one address has, as allauth writes rates."""
    from crawler.engine.chosen import chosen  # noqa: PLC0415 - models are not there yet when apps are loaded

    return f"{chosen('SIGN_UP_PER_ADDRESS')}/d/ip"
