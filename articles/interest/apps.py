"""Django's entry for the app `articles.interest`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class InterestConfig(AppConfig):
    name = "articles.interest"
    verbose_name = gettext_lazy("Interest")
