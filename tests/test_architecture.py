"""Promises about imports and names that the import contracts cannot spell."""

import ast
import os
import subprocess
import sys
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("crawler", "feeds", "articles", "recrawl")
# Django finds commands and migrations by these names.
GIVEN = {"Command", "Migration"}

# Celery itself loads django.conf; what matters is that no ORM, driver or model comes with it.
DATABASE = ("django.db", "django.apps", "psycopg", "crawler.engine.models", "feeds.models", "articles.models")
SHOW = "import sys, {module}; print(*sorted(m for m in sys.modules if m.startswith({unwanted!r})))"


@pytest.mark.parametrize(
    "module",
    [
        "crawler.terminals.serve",
        "crawler.http.client",
        "crawler.messages",
        "crawler.reading.feeds",
        "feeds.scheduling",
    ],
)
def test_importing_it_loads_nothing_of_the_database(module: str) -> None:
    known = {**os.environ, "DATABASE_URL": "none"}
    command = [sys.executable, "-c", SHOW.format(module=module, unwanted=DATABASE)]
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("", 0), done.stderr


def test_no_files_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    TopologicalSorter(
        {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    ).prepare()


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in (file for package in PACKAGES for file in (ROOT / package).rglob("*.py")):
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in GIVEN:
                places[node.name].append(str(path.relative_to(ROOT)))
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
