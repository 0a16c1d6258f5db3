"""Django's entry for the app `articles.meaning`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class MeaningConfig(AppConfig):
    name = "articles.meaning"
    verbose_name = gettext_lazy("Meaning")
