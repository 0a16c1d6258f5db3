"""The wheel: complete, with no top-level folder but its packages, and working outside a clone."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from crawler.embedded import place

ROOT = Path(__file__).parents[1]
PACKAGES = ("crawler", "feeds", "articles", "recrawl")
_COMMAND = """
import sys
from crawler.command_line import main
sys.argv = ["freshet", *sys.argv[1:]]
main()
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the contents of a new wheel, as pip would unpack it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist"],
        cwd=ROOT, check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    (wheel,) = (folder / "dist").glob("freshet-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def _freshet(installed: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", _COMMAND, *arguments],
        cwd=installed.parent, capture_output=True, text=True, timeout=120, check=False,
        env={**kept, "PYTHONPATH": str(installed), "HOME": str(installed.parent), "PYTHONSAFEPATH": "1",
             **environment},
    )  # fmt: skip


def test_the_wheel_has_every_file_of_the_packages(installed: Path) -> None:
    tops = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert tops == set(PACKAGES)
    for source, target in [(name, name) for name in PACKAGES] + [
        ("templates", "crawler/templates"),
        ("locale", "crawler/locale"),
    ]:
        for path in (ROOT / source).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert (installed / target / path.relative_to(ROOT / source)).is_file(), path


def test_every_requirement_is_named(installed: Path) -> None:
    (metadata,) = installed.glob("*.dist-info/METADATA")
    named = metadata.read_text()
    lines = (ROOT / "requirements" / "base.in").read_text().splitlines()
    for requirement in lines:
        if not requirement.startswith("#"):
            name = requirement.partition("~")[0].partition("[")[0]
            assert f"Requires-Dist: {name}".lower() in named.lower(), requirement
    (scripts,) = installed.glob("*.dist-info/entry_points.txt")
    assert "freshet = crawler.command_line:main" in scripts.read_text()


def test_an_installation_keeps_its_data_where_desktops_keep_it(installed: Path, tmp_path: Path) -> None:
    program = "from django.conf import settings; print(settings.DATA_DIR, settings.SHARED_DIR)"
    ended = _freshet(installed, "shell", "--no-imports", "-c", program, DATABASE_URL="none",
                     XDG_DATA_HOME=str(tmp_path))  # fmt: skip
    data, shared = ended.stdout.split()
    assert data == str(place.installed_data_dir(str(tmp_path)))
    assert shared == str(installed / "crawler")


def test_an_installation_finds_its_templates_and_translations(installed: Path, tmp_path: Path) -> None:
    program = (
        "from django.template.loader import get_template; from django.utils import translation;"
        "print(get_template('frame.html').origin.name);"
        "translation.activate('de'); print(translation.gettext('Search'))"
    )
    ended = _freshet(installed, "shell", "--no-imports", "-c", program, DATABASE_URL="none",
                     DATA_DIR=str(tmp_path))  # fmt: skip
    assert ended.stdout.split() == [str(installed / "crawler" / "templates" / "frame.html"), "Suche"], (
        ended.stderr
    )


def test_a_command_without_a_database_says_how_to_start(installed: Path, tmp_path: Path) -> None:
    ended = _freshet(installed, "export_opml", DATA_DIR=str(tmp_path))
    assert ended.returncode == 1
    assert "start Freshet (freshet run)" in ended.stderr
