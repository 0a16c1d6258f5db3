"""Django's entry for the app `crawler.pipeline`."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class PipelineConfig(AppConfig):
    name = "crawler.pipeline"
    verbose_name = gettext_lazy("Pipeline")
