"""Django's entry for the app `feeds.laboratory`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class LaboratoryConfig(AppConfig):
    name = "feeds.laboratory"
    verbose_name = gettext_lazy("Policy laboratory")
