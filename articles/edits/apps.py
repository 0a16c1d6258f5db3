"""Django's entry for the app `articles.edits`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class EditsConfig(AppConfig):
    name = "articles.edits"
    verbose_name = gettext_lazy("Edited articles")
