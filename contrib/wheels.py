"""Say which locked packages have no wheel for a platform: `python contrib/wheels.py`.

It asks the package index that pip is configured with, a package at a time and without installing anything.
No test runs it, for the answer depends on the network and on what that index holds.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from packaging.markers import Marker

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements" / "base.txt"
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
# The C library of the container's system and of those that are kept up today can do all of these.
GLIBC_MINORS = range(28, 4, -1)
PYTHON = "3.11"
AT_ONCE = 4


class Locked(NamedTuple):
    """A line of the lock file: a package, its version, its condition and the hashes of its files."""

    name: str
    version: str
    marker: str
    hashes: frozenset[str]


class Answer(NamedTuple):
    """One package on one platform, with what is the matter, empty where all is well."""

    package: Locked
    complaint: str


def locked(text: str) -> Iterator[Locked]:
    """Yield the packages of a lock file."""
    for block in re.split(r"(?m)^(?=[A-Za-z0-9])", text):
        if match := re.match(r"([\w.-]+)(?:\[[^\]]*\])?==([^\s;]+)(?: ; ([^\\\n]+))?", block):
            hashes = frozenset(re.findall(r"--hash=sha256:([0-9a-f]{64})", block))
            yield Locked(match[1], match[2], (match[3] or "").strip(), hashes)


def is_needed(package: Locked, machine: str) -> bool:
    """Return whether a package is installed on Linux on such a machine."""
    if not package.marker:
        return True
    system = {
        "python_version": PYTHON, "python_full_version": f"{PYTHON}.9", "sys_platform": "linux",
        "platform_system": "Linux", "os_name": "posix", "platform_machine": machine,
        "implementation_name": "cpython", "platform_python_implementation": "CPython",
    }  # fmt: skip
    return Marker(package.marker).evaluate(system)


def platforms(machine: str) -> list[str]:
    """Return the names that wheels for a machine may bear, the newest first."""
    names = [f"manylinux_2_{minor}_{machine}" for minor in GLIBC_MINORS]
    return [*names, f"manylinux2014_{machine}", f"manylinux2010_{machine}", f"manylinux1_{machine}"]


def asked(package: Locked, machine: str) -> Answer:
    """Return whether the index has a wheel of a package for a machine, and whether the lock file knows it."""
    with tempfile.TemporaryDirectory(prefix="freshet-wheels-") as target:
        command = [
            sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps",
            "--only-binary=:all:", "--implementation=cp", f"--python-version={PYTHON}", f"--target={target}",
            *(f"--platform={name}" for name in platforms(machine)),
            "--report=-", f"{package.name}=={package.version}",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this Python
    if done.returncode:
        # Other lines of pip may name the index, which is nobody's business.
        missing = "No matching distribution" in done.stderr
        return Answer(package, "no wheel" if missing else "could not be asked")
    (chosen,) = json.loads(done.stdout)["install"]
    found = chosen["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
    return Answer(package, "" if found in package.hashes else "a wheel whose hash is not locked")


def main() -> int:
    """Print what lacks a wheel; the exit code is 1 if anything does."""
    parser = argparse.ArgumentParser(description="Say which locked packages have no wheel for a platform.")
    parser.add_argument("platforms", nargs="*", help="amd64, arm64; both unless one is named")
    chosen = parser.parse_args().platforms or [*MACHINES]
    if unknown := set(chosen) - set(MACHINES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    complete = True
    for name in chosen:
        machine = MACHINES[name]
        needed = [package for package in locked(LOCK.read_text()) if is_needed(package, machine)]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = list(pool.map(asked, needed, [machine] * len(needed)))
        lacking = [answer for answer in answers if answer.complaint]
        print(f"{name}: {len(needed) - len(lacking)} of {len(needed)} packages have a locked wheel")
        for answer in lacking:
            print(f"  {answer.package.name} {answer.package.version}: {answer.complaint}")
        complete = complete and not lacking
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
