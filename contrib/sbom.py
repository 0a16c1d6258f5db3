"""Write the bill of materials of Freshet as CycloneDX 1.6: `make sbom` writes dist/freshet.cdx.json.

From the lock file alone, with the licences that the installed distributions state, so that the same lock file
gives the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements" / "base.txt"
_PINNED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def components(lock: str) -> Iterator[dict[str, Any]]:
    """Yield a component for each distribution of a lock file."""
    for block in re.split(r"\n(?=[A-Za-z0-9])", lock):
        if found := _PINNED.match(block):
            name, version = re.sub(r"[-_.]+", "-", found["name"]).lower(), found["version"]
            component = {
                "type": "library",
                "bom-ref": f"pkg:pypi/{name}@{version}",
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{name}@{version}",
                # Each file of the distribution has one: which was installed depends on the machine.
                "hashes": [{"alg": "SHA-256", "content": one} for one in sorted(_HASH.findall(block))],
            }
            licence = licence_of(name)
            yield component | ({"licenses": [{"license": {"name": licence}}]} if licence else {})


def licence_of(name: str) -> str:
    """Return the licence that an installed distribution states, "" if it states none or is not here."""
    try:
        stated = metadata(name)
    except PackageNotFoundError:
        return ""
    expression = stated.get("License-Expression") or ""
    classified = [
        one.rpartition(" :: ")[2] for one in stated.get_all("Classifier") or () if "License ::" in one
    ]
    plain = (stated.get("License") or "").strip().splitlines()
    return expression or ", ".join(sorted(classified)) or (plain[0][:100] if plain else "")


def bill(lock: str, version: str) -> dict[str, Any]:
    """Return the bill of materials of a version of Freshet with these dependencies."""
    parts = sorted(components(lock), key=lambda one: str(one["bom-ref"]))
    own = f"pkg:pypi/freshet@{version}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, own + lock)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": own, "name": "freshet", "version": version, "purl": own,
            },
        },
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [part["bom-ref"] for part in parts]}],
    }  # fmt: skip


def main() -> None:
    version = sys.argv[1] if len(sys.argv) > 1 else "0"
    target = ROOT / "dist" / "freshet.cdx.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(bill(LOCK.read_text(), version), indent=1) + "\n")
    sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main()
