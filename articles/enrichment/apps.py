"""Django's entry for the app `articles.enrichment`."""

from django.apps import AppConfig


class EnrichmentConfig(AppConfig):
    name = "articles.enrichment"
    label = "enrichment"
    default_auto_field = "django.db.models.BigAutoField"
