"""Build the browser extension: a folder to load, and the same files as .zip (Chromium) and .xpi (Firefox).

The archives hold fixed times and no compression: one commit and one Pillow always give the same bytes.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ICON = ROOT / "crawler/web/static/freshet/icon-512.png"
ICON_SIZES = (16, 32, 48, 128)
FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def package_version() -> str:
    """Return the version that the wheel gets."""
    command = [sys.executable, "-m", "hatchling", "version"]
    ended = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    return ended.stdout.strip()


def extension_files(version: str) -> dict[str, bytes]:
    """Return the contents of the extension's files by their paths in it."""
    # Browsers take numbers only: a development version has those of the release to come.
    numbers = re.match(r"\d+(\.\d+){0,3}", version)
    if numbers is None:
        raise ValueError(f"a version must begin with a number: {version}")
    manifest = json.loads((HERE / "manifest.json").read_text("utf-8")) | {"version": numbers[0]}
    files = {"manifest.json": json.dumps(manifest, indent=2).encode() + b"\n"}
    for pattern in ("*.js", "*.html", "*.css", "_locales/*/messages.json"):
        files |= {path.relative_to(HERE).as_posix(): path.read_bytes() for path in HERE.glob(pattern)}
    files["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    with Image.open(ICON) as icon:
        for size in ICON_SIZES:
            content = io.BytesIO()
            icon.convert("RGBA").resize((size, size), Image.Resampling.LANCZOS).save(content, "PNG")
            files[f"icons/{size}.png"] = content.getvalue()
    return files


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files where a browser can load them as an unpacked extension."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def write_archive(path: Path, files: dict[str, bytes]) -> None:
    """Write a ZIP file that has the same bytes whenever and wherever it is written."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(files.items()):
            member = zipfile.ZipInfo(name, FIXED_TIME)
            member.create_system = 3
            member.external_attr = 0o644 << 16
            archive.writestr(member, content)


def build(folder: Path, version: str) -> list[Path]:
    """Write the unpacked extension and its two packages into `folder`. Returns the packages."""
    files = extension_files(version)
    shutil.rmtree(folder / "webextension", ignore_errors=True)
    write_folder(folder / "webextension", files)
    packages = [folder / f"freshet-extension-{version}{suffix}" for suffix in (".zip", ".xpi")]
    for package in packages:
        write_archive(package, files)
    return packages


if __name__ == "__main__":
    for package in build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"), package_version()):
        print(package)
