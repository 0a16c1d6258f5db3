"""Django's entry for the app `articles.interest`."""

from django.apps import AppConfig


class InterestConfig(AppConfig):
    name = "articles.interest"
    label = "interest"
    default_auto_field = "django.db.models.BigAutoField"
