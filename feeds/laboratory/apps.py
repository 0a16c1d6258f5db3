"""Django's entry for the app `feeds.laboratory`."""

from django.apps import AppConfig


class LaboratoryConfig(AppConfig):
    name = "feeds.laboratory"
    label = "laboratory"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Policy laboratory"
