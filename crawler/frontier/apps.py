"""Django's entry for the app `crawler.frontier`."""

from django.apps import AppConfig


class FrontierConfig(AppConfig):
    name = "crawler.frontier"
    verbose_name = "Crawls"
