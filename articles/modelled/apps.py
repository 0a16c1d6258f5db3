"""Django's entry for the app `articles.modelled`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class ModelledConfig(AppConfig):
    name = "articles.modelled"
    verbose_name = gettext_lazy("Language model")
