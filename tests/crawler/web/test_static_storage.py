"""The static files that are compressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.test import override_settings

from crawler.web.static_storage import StaticStorage

NAMES = ("page.css", "tool.js", "tool.min.js", "tool.min.js.map")


def test_what_pages_name_is_compressed_and_nothing_else(tmp_path: Path, settings: Any) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in NAMES:
        (source / name).write_text("a { color: red }\n" * 200)
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATICFILES_DIRS, settings.STATIC_ROOT = [source], target
    with override_settings(STORAGES={"staticfiles": {"BACKEND": "crawler.web.static_storage.StaticStorage"}}):
        call_command("collectstatic", interactive=False, verbosity=0)
        named = StaticStorage().load_manifest()[0]
    assert set(named) == set(NAMES) and all((target / name).exists() for name in named.values())
    compressed = {path.name.removesuffix(".gz") for path in target.glob("*.gz")}
    assert compressed == {named["page.css"], named["tool.min.js"]}
