"""Django app configuration of `crawler.frontier`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class FrontierConfig(AppConfig):
    name = "crawler.frontier"
    verbose_name = gettext_lazy("Crawls")
