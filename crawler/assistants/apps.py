"""The door for assistants as an app of Django, for its command."""

from django.apps import AppConfig


class AssistantsConfig(AppConfig):
    """Configuration of the app."""

    name = "crawler.assistants"
    label = "assistants"
