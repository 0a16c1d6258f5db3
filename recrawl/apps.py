"""Django's entry for the app `recrawl`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class SitesConfig(AppConfig):
    name = "recrawl"
    verbose_name = gettext_lazy("Sites")
