"""Django's entry for the app `crawler`: the crawl engine."""

from django.apps import AppConfig


class CrawlerConfig(AppConfig):
    name = "crawler"
    default_auto_field = "django.db.models.BigAutoField"
