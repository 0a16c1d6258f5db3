"""Django's entry for the app `articles`: articles, stories and personal feeds."""

from django.apps import AppConfig


class ArticlesConfig(AppConfig):
    name = "articles"

    def ready(self) -> None:
        """Graphs can be chosen by feed."""
        from articles.graphs import documents_of_feed  # noqa: PLC0415 - needs models
        from crawler.pipeline.export import SELECTIONS  # noqa: PLC0415

        SELECTIONS["feed"] = documents_of_feed
