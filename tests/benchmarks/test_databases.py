"""Benchmarks run in a clone whose product has users: no row of theirs may change."""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from benchmarks.database import mark_disposable
from crawler.postgresql.postgresql import PostgreSQL

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {
    "api_fuzz": ("--examples", "1", "--people", "anonymous", "--", "--include-path-regex=^/api/feeds/"),
    "tick": ("--feeds", "10"),
}
TABLES = "from crawler.database import schema; schema.load()"
CONNECT = """
import benchmarks, django
django.setup()
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT 1")
"""


@dataclass
class Product:
    """A data directory with a database that is in use."""

    data_dir: Path
    url: str

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run Python as someone does who works in the clone of this product."""
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            env={**inherited, "DATA_DIR": str(self.data_dir), "DJANGO_SETTINGS_MODULE": "crawler.settings"},
            capture_output=True,
            text=True,
            check=False,
        )

    def dump(self) -> dict[str, str]:
        """Return a digest of every table's rows."""
        with psycopg.connect(self.url) as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            return {table: _digest(connection, table) for (table,) in tables.fetchall()}


def _digest(connection: psycopg.Connection, table: str) -> str:
    query = f'SELECT "{table}"::text FROM "{table}" ORDER BY 1'
    rows = connection.execute(query.encode()).fetchall()
    return hashlib.sha256(repr(rows).encode()).hexdigest()


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    data_dir = Path(tempfile.mkdtemp(prefix="freshet-product-"))
    data_dir.chmod(0o711)
    server = PostgreSQL(data_dir, {"fsync": "off"})
    server.start()
    product = Product(data_dir, server.credentials.database_url)
    assert product.run("manage.py", "shell", "-v0", "-c", TABLES).returncode == 0
    added = product.run("manage.py", "add_feeds", "https://example.org/feed.xml")
    assert added.returncode == 0, added.stderr
    yield product
    server.stop()
    shutil.rmtree(data_dir)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_product_beside_a_benchmark_keeps_its_rows(product: Product, name: str) -> None:
    before = product.dump()
    done = product.run("-m", f"benchmarks.{name}", *COMMANDS[name])
    assert done.returncode == 0, done.stdout + done.stderr
    assert product.dump() == before


def test_a_benchmark_cannot_connect_to_a_database_it_did_not_make(product: Product) -> None:
    done = product.run("-c", CONNECT)
    assert done.returncode == 1
    assert "ForeignDatabaseError: no benchmark made the database 'freshet'" in done.stderr


def test_a_benchmark_connects_to_a_database_it_has_marked(product: Product) -> None:
    mark_disposable(product.url)
    try:
        assert product.run("-c", CONNECT).returncode == 0
    finally:
        with psycopg.connect(product.url) as connection:
            connection.execute("DROP TABLE freshet_disposable")


def test_settings_read_too_early_end_a_benchmark_before_it_makes_anything(product: Product) -> None:
    setup = "import django; django.setup(); from benchmarks.database import own_database"
    done = product.run("-c", f"{setup}; own_database('x').__enter__()")
    assert done.returncode == 1
    assert "ForeignDatabaseError: the settings were read" in done.stderr


def test_importing_the_package_reads_no_settings_and_loads_no_task_queue() -> None:
    code = "import sys, crawler; assert not {'celery', 'django.conf', 'crawler.settings'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_every_benchmark_that_uses_the_database_makes_its_own() -> None:
    careless = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "benchmarks").rglob("*.py")
        if _uses_django(source := ast.parse(path.read_text())) and not _makes_a_database(source)
    ]
    assert careless == []


def _uses_django(module: ast.Module) -> bool:
    """Return whether the module sets Django up, or flushes or truncates."""
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    return any(ast.unparse(call.func) in {"django.setup", "call_command"} for call in calls)


def _makes_a_database(module: ast.Module) -> bool:
    names = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    defined = {node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}
    constants = {node.value for node in ast.walk(module) if isinstance(node, ast.Constant)}
    has_none = {"DATABASE_URL", "none"} <= constants
    return has_none or bool({"own_database", "mark_disposable"} & (names | defined))
