#!/usr/bin/env python
"""Django's command line for Freshet."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db import OperationalError, ProgrammingError
from psycopg.errors import UndefinedColumn, UndefinedTable

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        sys.exit(
            f"The database does not answer: {error}. Is Freshet running (make run), or DATABASE_URL right?"
        )
    except ProgrammingError as error:
        if not isinstance(error.__cause__, UndefinedTable | UndefinedColumn):
            raise
        sys.exit("The database is not that of this version: python manage.py migrate makes what is missing.")
