#!/usr/bin/env python
"""Django's command line for Freshet."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError, ProgrammingError
from psycopg.errors import UndefinedColumn, UndefinedTable

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        if "settings.DATABASES" in str(error):  # Django's word for DATABASE_URL=none, or none yet
            sys.exit(
                "There is no database: start Freshet (make run), or set DATA_DIR or DATABASE_URL as it does."
            )
        sys.exit(f"A setting is wrong: {error}")
    except OperationalError as error:
        sys.exit(
            f"The database does not answer: {error}. Is Freshet running (make run), or DATABASE_URL right?"
        )
    except ProgrammingError as error:
        if not isinstance(error.__cause__, UndefinedTable | UndefinedColumn):
            raise
        sys.exit("The database is not that of this version: python manage.py migrate makes what is missing.")
