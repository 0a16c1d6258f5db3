"""Django's entry for the app `feeds.websub`."""

from django.apps import AppConfig


class WebSubConfig(AppConfig):
    name = "feeds.websub"
    verbose_name = "WebSub"
