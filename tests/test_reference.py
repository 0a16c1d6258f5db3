"""The pages that are made from the code say what the code says."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["settings", "commands", "licences", "questions", "reports"])
def test_pages_made_from_the_code_are_up_to_date(reference: ModuleType, name: str) -> None:
    if name == "licences" and sys.version_info[:2] != (3, 11):
        pytest.skip("other versions of Python have other packages")
    made = getattr(reference, f"{name}_page")()
    assert made == (ROOT / "docs" / f"{name}.md").read_text(), "python docs/reference.py renews it"


def test_every_setting_is_explained(reference: ModuleType) -> None:
    rows = [line for line in reference.settings_page().splitlines() if line.startswith("- **")]
    assert len(rows) > 50
    assert "- **`FEED_TICK_SECONDS`** (600): One tick" in "\n".join(rows)


def test_no_package_has_a_licence_that_would_bind_those_who_use_it(reference: ModuleType) -> None:
    free = re.compile(r"MIT|BSD|Apache|MPL|Mozilla|PSF|Python Software|LGPL|Zope|W3C|ISC|CC0|Zlib")
    rows = reference.licences()
    assert len(rows) > 80
    assert [name for name, licence in rows.items() if not free.search(licence)] == []
    bound = [name for name, licence in rows.items() if re.search(r"\b(A?GPL|GNU General)", licence)]
    assert bound == ["faust-cchardet", "tld"]
    assert all(" OR " in rows[name] for name in bound)  # of which another one is taken


def test_readme_is_short_and_its_links_lead_somewhere() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 120
