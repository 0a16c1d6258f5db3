"""Django app configuration of the crawl engine; its label `crawler` prefixes the engine's tables."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class EngineConfig(AppConfig):
    name = "crawler.engine"
    label = "crawler"
    verbose_name = "crawler"

    def ready(self) -> None:
        """Import the `tasks` module of every app, so that their receivers of engine signals are connected."""
        autodiscover_modules("tasks")
