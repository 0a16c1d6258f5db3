"""Django's entry for the app `articles`: articles, stories and personal feeds."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class ArticlesConfig(AppConfig):
    name = "articles"
    verbose_name = gettext_lazy("Articles")

    def ready(self) -> None:
        """Register the selection of graphs by feed, names for the graph, and the receiver of added feeds."""
        import articles.personal.adding  # noqa: F401, PLC0415 - needs models
        from articles.graphs import article_names, documents_of_feed  # noqa: PLC0415 - needs models
        from articles.things.pages import person_address  # noqa: PLC0415 - needs models
        from crawler.pipeline.export import SELECTIONS  # noqa: PLC0415
        from crawler.pipeline.names import NAMERS, PERSON_PAGES  # noqa: PLC0415

        SELECTIONS["feed"] = documents_of_feed
        NAMERS.append(article_names)
        PERSON_PAGES.append(person_address)
