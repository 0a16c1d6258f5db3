"""Sites captured in zip files: their feeds and their pages, as a crawler would get them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote


@dataclass(slots=True)
class Site:
    """A captured site: its address, what language it is in, its files by address."""

    base: str
    language: str
    feeds: list[str]
    files: dict[str, bytes] = field(default_factory=dict, repr=False)

    def page(self, url: str) -> bytes | None:
        """The file behind an address, as a server of files finds it."""
        plain = unquote(url).partition("?")[0].partition("#")[0].rstrip("/")
        names = (plain, f"{plain}/index.html", f"{plain}.html")
        return next((self.files[name] for name in names if name in self.files), None)


def sites(world: Path) -> Iterator[Site]:
    """The sites of a folder of zip files, each with a manifest.json that names its `base_url`, and perhaps
    its `feeds` (addresses below that) and its `language`. Ends the command if there are none.
    """
    paths = sorted(world.glob("*.zip"))
    if not paths:
        raise SystemExit(f"{world}: no zip files of sites")
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            base = manifest["base_url"].rstrip("/")
            feeds = [f"{base}/{name}" for name in manifest.get("feeds", ())]
            site = Site(base, manifest.get("language", ""), feeds)
            for name in archive.namelist():
                if not name.endswith("/") and name != "manifest.json":
                    site.files[f"{base}/{name}"] = archive.read(name)
            yield site
