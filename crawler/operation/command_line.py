"""The command `freshet` of an installation, and `manage.py` of a clone."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line, handle_default_options
from django.core.management.base import CommandError, CommandParser
from django.db import OperationalError, ProgrammingError
from psycopg.errors import UndefinedColumn, UndefinedTable

from crawler.isolation import memory
from crawler.telemetry.version import version


def _heed_options() -> None:
    """Set what `--settings` and `--pythonpath` say, which Django reads only when its set-up is done here."""
    parser = CommandParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--settings")
    parser.add_argument("--pythonpath")
    # Damaged options are told by the command itself.
    with suppress(CommandError):
        handle_default_options(parser.parse_known_args(sys.argv[2:])[0])


def main() -> None:
    """Run the command that the arguments name. Ends with a sentence where settings or database are wrong."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
    is_clone = os.path.basename(sys.argv[0]) == "manage.py"
    start, migrate = (
        ("make run", "python manage.py migrate") if is_clone else ("freshet run", "freshet migrate")
    )
    if sys.argv[1:] in (["version"], ["--version"]):
        print(f"Freshet {version()}")
        return
    try:
        _heed_options()
        with memory.without_collection():
            django.setup()
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        if "settings.DATABASES" in str(error):  # Django's word for DATABASE_URL=none, or none yet
            sys.exit(
                f"There is no database: start Freshet ({start}), or set DATA_DIR or DATABASE_URL as it does."
            )
        sys.exit(f"A setting is wrong: {error}")
    except OperationalError as error:
        sys.exit(
            f"The database does not answer: {error}. Is Freshet running ({start}), or DATABASE_URL right?"
        )
    except ProgrammingError as error:
        if not isinstance(error.__cause__, UndefinedTable | UndefinedColumn):
            raise
        sys.exit(f"The database is not that of this version: {migrate} makes what is missing.")
