"""Django's entry for the app `articles`: articles, stories and personal feeds."""

from django.apps import AppConfig


class ArticlesConfig(AppConfig):
    name = "articles"
    default_auto_field = "django.db.models.BigAutoField"
