"""Django's entry for the app `articles.greader`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class AppsConfig(AppConfig):
    name = "articles.greader"
    verbose_name = gettext_lazy("Apps")
