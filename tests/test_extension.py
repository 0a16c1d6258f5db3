"""The browser extension without a browser: its manifest, its texts, what its scripts may not do, packages."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXTENSION = ROOT / "contrib" / "webextension"
SCRIPTS = sorted(EXTENSION.glob("*.js"))
PAGES = sorted(EXTENSION.glob("*.html"))
LOCALES = ["de", "en", "es", "fr", "ja"]
MAX_LINES = 400
STRANGE = [
    r"\beval\b", r"\bFunction\(", "innerHTML", "outerHTML", "insertAdjacentHTML", r"document\.write",
    r"import\(", r"setTimeout\(\s*[\"'`]", "<script>", r"\son\w+=", "XMLHttpRequest",
    "sendBeacon", "WebSocket",
]  # fmt: skip
"""Ways of running or showing what somebody else wrote, or of sending something past `fetch`."""


def load_build() -> ModuleType:
    """Return the module of the build step, which belongs to no package."""
    spec = importlib.util.spec_from_file_location("extension_build", EXTENSION / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    built: dict[str, bytes] = load_build().extension_files("1.2.3.dev4+gabc")
    return built


@pytest.fixture
def manifest(files: dict[str, bytes]) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(files["manifest.json"])
    return content


def messages(locale: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((EXTENSION / "_locales" / locale / "messages.json").read_text())
    return content


def test_the_manifest_asks_for_little(manifest: dict[str, Any]) -> None:
    assert manifest["manifest_version"] == 3
    assert manifest["version"] == "1.2.3"
    assert manifest["permissions"] == ["activeTab", "contextMenus", "scripting", "storage"]
    # Asked for one host, once its address is set.
    assert manifest["optional_host_permissions"] == ["http://*/*", "https://*/*"]
    assert not {"host_permissions", "content_scripts", "externally_connectable", "web_accessible_resources",
                "content_security_policy"} & set(manifest)  # fmt: skip
    assert manifest["background"] == {
        "service_worker": "background.js", "scripts": ["background.js"], "type": "module"
    }  # fmt: skip


def test_every_file_that_is_named_exists(files: dict[str, bytes], manifest: dict[str, Any]) -> None:
    named = {
        *manifest["icons"].values(), *manifest["action"]["default_icon"].values(),
        *manifest["background"]["scripts"], manifest["action"]["default_popup"],
        manifest["options_ui"]["page"],
    }  # fmt: skip
    for page in PAGES:
        named |= set(re.findall(r'(?:src|href)="([^"]+)"', page.read_text()))
    for script in SCRIPTS:
        named |= {name.removeprefix("./") for name in re.findall(r'from "([^"]+)"', script.read_text())}
        named |= {name for names in re.findall(r"files: \[([^\]]+)\]", script.read_text())
                  for name in re.findall(r'"([^"]+)"', names)}  # fmt: skip
    assert named <= set(files)
    assert {path.name for path in [*SCRIPTS, *PAGES]} <= named | {"popup.html"}


def test_every_message_is_in_every_language() -> None:
    used = set(re.findall(r"__MSG_(\w+)__", (EXTENSION / "manifest.json").read_text()))
    for page in PAGES:
        used |= set(re.findall(r'data-text="(\w+)"', page.read_text()))
    scripts = "".join(script.read_text() for script in SCRIPTS)
    english = messages("en")
    # A status or a failure is named by a word alone before it becomes a sentence.
    used |= {name for name in re.findall(r'"(\w+)"', scripts) if name in english}
    used |= set(re.findall(r'\b(?:text|fail|getMessage)\("(\w+)"', scripts))
    assert used == set(english)
    assert sorted(path.name for path in (EXTENSION / "_locales").iterdir()) == LOCALES
    for locale in LOCALES:
        translated = messages(locale)
        assert list(translated) == list(english), locale
        for name, entry in translated.items():
            assert entry["message"].strip(), (locale, name)
            assert entry.get("placeholders") == english[name].get("placeholders"), (locale, name)
            assert ("$TEXT$" in entry["message"]) == ("placeholders" in entry), (locale, name)
        assert translated["language"]["message"] == locale


@pytest.mark.parametrize("path", [*SCRIPTS, *PAGES], ids=lambda path: path.name)
def test_nothing_of_a_stranger_becomes_code_or_markup(path: Path) -> None:
    content = path.read_text()
    for word in STRANGE:
        assert not re.search(word, content), word
    # Nothing is fetched from anywhere but the person's server.
    assert set(re.findall(r"\bfetch\(([^,]+),", content)) <= {"server + path"}
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', content)


def test_it_stays_small() -> None:
    assert sum(len(script.read_text().splitlines()) for script in SCRIPTS) < MAX_LINES


def test_packages_have_the_same_bytes_each_time(tmp_path: Path) -> None:
    build = load_build().build
    first, second = build(tmp_path / "a", "1.2.3"), build(tmp_path / "b", "1.2.3")
    assert [path.name for path in first] == ["freshet-extension-1.2.3.zip", "freshet-extension-1.2.3.xpi"]
    assert {path.read_bytes() for path in first} == {path.read_bytes() for path in second}
    assert len({path.read_bytes() for path in first}) == 1
    with zipfile.ZipFile(first[0]) as archive:
        names = archive.namelist()
        assert json.loads(archive.read("manifest.json"))["version"] == "1.2.3"
    assert {"LICENSE", "icons/128.png", "popup.html", "_locales/ja/messages.json"} <= set(names)
    assert not [name for name in names if name.endswith(".py")]
    for name in names:
        assert (tmp_path / "a/webextension" / name).is_file()
