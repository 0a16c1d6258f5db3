"""Django app configuration of `crawler.frontier`."""

from django.apps import AppConfig


class FrontierConfig(AppConfig):
    name = "crawler.frontier"
    verbose_name = "Crawls"
