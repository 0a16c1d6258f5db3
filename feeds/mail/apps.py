"""Django's entry for the app `feeds.mail`."""

from django.apps import AppConfig


class NewslettersConfig(AppConfig):
    name = "feeds.mail"
    verbose_name = "Newsletters"
