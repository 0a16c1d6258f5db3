"""Django's entry for the app `articles.greader`."""

from django.apps import AppConfig


class GreaderConfig(AppConfig):
    name = "articles.greader"
    label = "greader"
    default_auto_field = "django.db.models.BigAutoField"
