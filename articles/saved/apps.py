"""Django's entry for the app `articles.saved`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class SavedConfig(AppConfig):
    name = "articles.saved"
    verbose_name = gettext_lazy("Saved pages")

    def ready(self) -> None:
        from articles.saved import signals  # noqa: F401, PLC0415 - its receivers
