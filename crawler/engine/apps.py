"""Django's entry for the crawl engine. Its label is the project's, by which its tables are called."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class EngineConfig(AppConfig):
    name = "crawler.engine"
    label = "crawler"
    verbose_name = "crawler"

    def ready(self) -> None:
        """Tasks of all apps hear the engine's signals, wherever these are sent."""
        autodiscover_modules("tasks")
