"""Django's entry for the app `articles.moving`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class MovingConfig(AppConfig):
    name = "articles.moving"
    verbose_name = gettext_lazy("Moving in")
    default_auto_field = "django.db.models.BigAutoField"
