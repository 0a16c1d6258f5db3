"""Django's entry for the app `feeds`: feeds, their posting history and retrievals."""

from django.apps import AppConfig


class FeedsConfig(AppConfig):
    name = "feeds"
    default_auto_field = "django.db.models.BigAutoField"
