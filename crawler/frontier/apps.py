"""Django's entry for the app `crawler.frontier`."""

from django.apps import AppConfig


class FrontierConfig(AppConfig):
    name = "crawler.frontier"
    label = "frontier"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Crawls"
