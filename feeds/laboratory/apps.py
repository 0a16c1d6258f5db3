"""Django's entry for the app `feeds.laboratory`."""

from django.apps import AppConfig


class LaboratoryConfig(AppConfig):
    name = "feeds.laboratory"
    verbose_name = "Policy laboratory"
