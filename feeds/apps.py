"""Django's entry for the app `feeds`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class FeedsConfig(AppConfig):
    name = "feeds"
    verbose_name = gettext_lazy("Feeds")

    def ready(self) -> None:
        """Register the names of feeds for the graph."""
        from crawler.pipeline.names import NAMERS, SITE_FINDERS  # noqa: PLC0415 - needs models
        from feeds.graph_names import feed_names, hosts_of_feeds  # noqa: PLC0415 - needs models

        NAMERS.append(feed_names)
        SITE_FINDERS.append(hosts_of_feeds)
