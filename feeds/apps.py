"""Django's entry for the app `feeds`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class FeedsConfig(AppConfig):
    name = "feeds"
    verbose_name = gettext_lazy("Feeds")
