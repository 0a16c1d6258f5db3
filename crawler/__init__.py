"""The Django project package and the crawl engine; Celery's application is loaded with it.

A helper process that has no tasks says so in its environment and is spared that (`crawler/process/light.py`).
"""

import os

if "FRESHET_LIGHT" not in os.environ:
    from crawler.celery import app as celery_app

    __all__ = ["celery_app"]
