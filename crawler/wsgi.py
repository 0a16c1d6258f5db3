"""The WSGI application, for gunicorn and any other server."""

import os

from django.core.wsgi import get_wsgi_application

from crawler.memory import keep_what_is_loaded

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")

application = get_wsgi_application()
keep_what_is_loaded()
