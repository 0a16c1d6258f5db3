"""Django's entry for the project package: its commands, and the Celery application."""

import importlib

from django.apps import AppConfig


class ProjectConfig(AppConfig):
    name = "crawler"
    label = "project"

    def ready(self) -> None:
        """Load the Celery application, which tasks are sent through."""
        importlib.import_module("crawler.celery")
