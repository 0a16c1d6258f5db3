"""Django's entry for the project package: its commands."""

from django.apps import AppConfig


class ProjectConfig(AppConfig):
    name = "crawler"
    label = "project"
