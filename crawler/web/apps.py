"""Django's entry for what pages share: template tags and static files."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "crawler.web"
