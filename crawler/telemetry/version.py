"""The version of Freshet that runs."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path


@cache
def version() -> str:
    """Return the version of the installation, in a clone the one that `pyproject.toml` falls back to."""
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if project.exists():
        return str(tomllib.loads(project.read_text())["tool"]["hatch"]["version"]["fallback-version"])
    return metadata.version("freshet")
