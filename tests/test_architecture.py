"""Promises about imports and names that the import contracts cannot spell."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest
from django.apps import apps

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
        "crawler.fetching.http.client",
        "crawler.messages",
        "crawler.reading.feeds",
        "feeds.scheduling",
        "crawler.notices.program",
        "articles.modelled.program",
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


LAYERS = next(
    contract["layers"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    if contract["type"] == "layers"
)
FLOORS = {name.strip(): floor for floor, names in enumerate(reversed(LAYERS)) for name in names.split("|")}


def floor_of(module: str) -> int | None:
    """The floor on which a module stands in the layers of pyproject.toml, the lowest one 0."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((FLOORS[name] for name in names if name in FLOORS), None)


def modules_of_packages() -> dict[str, Path]:
    files = (file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    return {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in files}


def test_every_module_stands_on_a_floor() -> None:
    halls = (
        "crawler",
        "crawler.fetching",
        "crawler.operation",
        "crawler.telemetry",
    )  # of rooms on several floors
    modules = set(modules_of_packages()) - {f"{hall}.__init__" for hall in halls}
    assert len(modules) > 400
    assert {module for module in modules if floor_of(module) is None} == set()


def test_no_room_names_a_table_or_model_of_a_higher_room() -> None:
    owners = {}
    for model in apps.get_models():
        if (floor := floor_of(model.__module__)) is not None:
            owners[model._meta.db_table] = owners[model._meta.label] = floor
    names = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in owners))
    assert len(owners) > 60
    above = {
        f"{module}:{node.lineno}: {name}"
        for module, path in modules_of_packages().items()
        if ".migrations." not in module and (floor := floor_of(module)) is not None
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for name in names.findall(node.value)
        if owners[name] > floor
    }
    assert above == set()


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in (file for package in PACKAGES for file in (ROOT / package).rglob("*.py")):
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in GIVEN:
                places[node.name].append(str(path.relative_to(ROOT)))
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


DIALECT = ("What ", "Who ", "Those ", "Of ", "All that ", "All of ", "Whether ", "The same")
"""Beginnings of docstrings that say neither what a function does nor what a class is."""


def test_docstrings_begin_with_what_a_function_does_or_a_class_is() -> None:
    begun = [
        f"{path.relative_to(ROOT)}:{node.body[0].lineno}: {docstring.splitlines()[0]}"
        for path in (file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (docstring := ast.get_docstring(node) or "").startswith(DIALECT)
    ]
    assert begun == []
