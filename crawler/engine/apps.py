"""Django app configuration of the crawl engine; its label `crawler` prefixes the engine's tables."""

from django.apps import AppConfig
from django.core.checks import Tags, register
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy

from crawler.database.takeover import check_age


class EngineConfig(AppConfig):
    name = "crawler.engine"
    label = "crawler"
    verbose_name = gettext_lazy("Crawler")

    def ready(self) -> None:
        """Import the `tasks` module of every app, so that their receivers of engine signals are connected.

        `migrate` checks first that the database is not too old.
        """
        register(check_age, Tags.database)
        autodiscover_modules("tasks")
