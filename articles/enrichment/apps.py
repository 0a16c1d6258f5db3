"""Django's entry for the app `articles.enrichment`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class EnrichmentConfig(AppConfig):
    name = "articles.enrichment"
    verbose_name = gettext_lazy("Enrichment")
