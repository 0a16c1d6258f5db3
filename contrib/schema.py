"""Write crawler/database/schema.sql.gz, from which a new database gets its tables: `make schema`.

It holds what all migrations make in an empty database of the PostgreSQL that Freshet brings along.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from crawler.postgresql.postgresql import PostgreSQL  # noqa: E402
from tests.copies import dumped  # noqa: E402

FILE = ROOT / "crawler" / "database" / "schema.sql.gz"


def statements_of(source: str) -> bytes:
    """Return the statements that make what the database at an address holds."""
    for_psql = b"\\"
    lines = dumped(source, "--rows-per-insert=500").splitlines()
    return b"\n".join(line for line in lines if not line.startswith(for_psql))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="freshet-schema-") as directory:
        Path(directory).chmod(0o711)
        server = PostgreSQL(Path(directory))
        server.start()
        try:
            environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
            command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
            settings = environment | {"DATA_DIR": directory}
            subprocess.run(command, cwd=ROOT, env=settings, check=True)  # noqa: S603 - this very Python
            statements = statements_of(server.credentials.database_url)
        finally:
            server.stop()
    FILE.write_bytes(gzip.compress(statements, mtime=0))


if __name__ == "__main__":
    main()
