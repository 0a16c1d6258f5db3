"""The ASGI application, for servers that speak it."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
django.setup(set_prefix=False)

from crawler.web.deadline import bound_statements  # noqa: E402 - the settings come first

bound_statements()

from crawler.web.requests import Utf8ASGIHandler  # noqa: E402 - the settings come first

application = Utf8ASGIHandler()
