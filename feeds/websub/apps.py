"""Django's entry for the app `feeds.websub`."""

from django.apps import AppConfig


class WebSubConfig(AppConfig):
    name = "feeds.websub"
    label = "websub"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "WebSub"
