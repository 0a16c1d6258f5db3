"""The Django project package and the crawl engine; Celery's application is loaded with it."""

from crawler.celery import app as celery_app

__all__ = ["celery_app"]
