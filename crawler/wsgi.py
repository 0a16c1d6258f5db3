"""The WSGI application, for `manage.py web` and any other server."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
django.setup(set_prefix=False)

from crawler.web.deadline import bound_statements  # noqa: E402 - the settings come first

bound_statements()

from crawler.isolation.memory import keep_what_is_loaded  # noqa: E402 - the settings come first
from crawler.telemetry.traces import begin  # noqa: E402
from crawler.web.requests import Utf8WSGIHandler  # noqa: E402

begin("web")

application = Utf8WSGIHandler()
keep_what_is_loaded()
