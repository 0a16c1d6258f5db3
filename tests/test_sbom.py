"""The bill of materials names every distribution that Freshet is installed with."""

from __future__ import annotations

import importlib.util
import re
from importlib.metadata import distributions
from pathlib import Path
from typing import Any
from uuid import UUID

ROOT = Path(__file__).parents[1]


def sbom() -> Any:
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "contrib" / "sbom.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_distribution_is_named_with_its_hashes() -> None:
    module = sbom()
    lock = module.LOCK.read_text()
    bill = module.bill(lock, "1.0.0")
    pinned = re.findall(r"^[A-Za-z0-9][^\s=\[]*(?:\[[^\]]*\])?==", lock, re.MULTILINE)
    assert len(bill["components"]) == len(pinned) > 50
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert UUID(bill["serialNumber"].removeprefix("urn:uuid:"))
    references = [part["bom-ref"] for part in bill["components"]]
    assert len(references) == len(set(references))
    assert bill["dependencies"] == [{"ref": "pkg:pypi/freshet@1.0.0", "dependsOn": references}]
    for part in bill["components"]:
        assert part["purl"] == f"pkg:pypi/{part['name']}@{part['version']}"
        assert part["hashes"]
        assert all(re.fullmatch("[0-9a-f]{64}", one["content"]) for one in part["hashes"])
    # Those for other systems are in the lock file, and not installed here.
    installed = {re.sub(r"[-_.]+", "-", one.name).lower() for one in distributions()}
    assert {part["name"] for part in bill["components"] if "licenses" not in part}.isdisjoint(installed)


def test_the_same_lock_file_gives_the_same_bill() -> None:
    module = sbom()
    lock = module.LOCK.read_text()
    assert module.bill(lock, "1.0.0") == module.bill(lock, "1.0.0")
    assert module.bill(lock, "1.0.0")["serialNumber"] != module.bill(lock, "1.0.1")["serialNumber"]
