"""The Django app."""

from __future__ import annotations

from django.apps import AppConfig


class RecrawlConfig(AppConfig):
    """Sites that are fetched again."""

    name = "recrawl"
    verbose_name = "Recrawl"
