"""Django's entry for the app `feeds.mail`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class NewslettersConfig(AppConfig):
    name = "feeds.mail"
    verbose_name = gettext_lazy("Newsletters")
