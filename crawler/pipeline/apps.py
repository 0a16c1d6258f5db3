"""Django's entry for the app `crawler.pipeline`."""

from django.apps import AppConfig


class PipelineConfig(AppConfig):
    name = "crawler.pipeline"
    label = "pipeline"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Pipeline"
