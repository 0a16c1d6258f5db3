"""The app of notifications."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class NoticesConfig(AppConfig):
    name = "crawler.notices"
    label = "notices"
    verbose_name = gettext_lazy("Notifications")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Look for news at every tick, make the rules that come with new watches, and carry rules along."""
        import_module("crawler.notices.tasks")
        import_module("crawler.notices.page_rules")
        import_module("crawler.notices.rules.taking")
