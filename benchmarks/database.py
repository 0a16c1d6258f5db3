"""Django on an embedded PostgreSQL of the benchmark's own, which goes afterwards."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_database(name: str) -> Iterator[Path]:
    """Migrated, with Django set up for it; the directory that holds it."""
    from crawler.embedded.postgresql import PostgreSQL

    directory = Path(tempfile.mkdtemp(prefix=f"freshet-{name}-"))
    directory.chmod(0o711)
    server = PostgreSQL(directory)
    server.start()
    try:
        os.environ |= {
            "DATABASE_URL": server.credentials.database_url,
            "DJANGO_SETTINGS_MODULE": "crawler.settings",
            "CELERY_BROKER_URL": "memory://",
            "DATA_DIR": str(directory / "data"),
        }
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        yield directory
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)
