"""The data directory, which holds the cluster, secrets, logs and static files."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason

# initdb and postgres refuse to run as root; when root starts them, they run as this user (postgresql.py).
UNPRIVILEGED = "nobody"


def traversable(path: Path) -> bool:
    """Return whether any user can reach `path`: every existing directory on the way lets others pass."""
    parents = [p for p in (path.absolute(), *path.absolute().parents) if p.exists()]
    return all(p.stat().st_mode & 0o001 for p in parents)


def real_path(path: Path) -> Path:
    """Return a directory's path without symbolic links, by which all processes know it as one and the same.

    A link that leads nowhere stays: the disk behind it is missing, and nothing may be made in its place.
    """
    leads_nowhere = os.path.islink(path) and not os.path.exists(path)
    return path.absolute() if leads_nowhere else Path(os.path.realpath(path))


def default_data_dir(checkout: Path) -> Path:
    """Return `var/` in the checkout. Returns a directory in /var/lib for root if others cannot reach that.

    The latter is named after the checkout, so that two checkouts never share a cluster.
    """
    if os.geteuid() != 0 or traversable(checkout):
        return checkout / "var"
    mark = hashlib.sha256(str(checkout).encode()).hexdigest()[:8]
    return Path("/var/lib") / f"freshet-{mark}"


def installed_data_dir(data_home: str) -> Path:
    """Return `freshet` in the folder of XDG_DATA_HOME, by default ~/.local/share.

    Returns /var/lib/freshet for root if others cannot reach that.
    """
    base = Path(data_home if os.path.isabs(data_home) else os.path.expanduser("~/.local/share"))
    return base / "freshet" if os.geteuid() != 0 or traversable(base) else Path("/var/lib/freshet")


MIN_FREE = 150 * 1024 * 1024
"""Free bytes needed for a new cluster, the static files and the first day."""
MAX_LETTERS = 800
"""Maximum length of the directory's path in bytes; PostgreSQL's paths below it must stay under 1,024."""


def problem_of(data_dir: Path) -> str:
    """Return a description of why this directory is unusable. Returns "" when it is usable.

    Creates the directory if it is missing.
    """
    # Control signs and bytes that are no UTF-8 would break every line of a log that names the directory.
    name = os.fsencode(data_dir)
    if any(byte < 32 for byte in name) or not _readable(name):
        return f"{str(data_dir)!a} cannot be DATA_DIR: its name has letters that no log can show"
    if len(name) > MAX_LETTERS:
        return f"DATA_DIR is {len(name)} bytes long, more than {MAX_LETTERS}: choose a shorter one"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        # Really written: a full or read-only disk passes mkdir and access.
        with tempfile.TemporaryFile(dir=data_dir) as file:
            file.write(bytes(4096))
        free = shutil.disk_usage(data_dir).free
    except OSError as error:
        return unusable(data_dir, error)
    # Only for a new cluster: a running one may well be on a nearly full disk, which Health tells.
    if free < MIN_FREE and not (data_dir / "postgresql").exists():
        return (
            f"{data_dir} has {free // 1024**2} MiB of free space and at least {MIN_FREE // 1024**2} are "
            "needed: make room, or set DATA_DIR to a directory on another disk"
        )
    return ""


FOLDERS = ("hosts", "scratch", "sparql", "pictures", "static")
"""Folders of the data directory that are made at the start, or when they are first needed."""
NEARLY_FULL = 20 * 1024 * 1024
"""Free bytes below which nothing more can be stored soon."""


def folders_of(data_dir: Path) -> set[str]:
    """Return the names of the folders that are there."""
    return {name for name in FOLDERS if (data_dir / name).is_dir()}


def trouble_of(data_dir: Path, folders: set[str]) -> str:
    """Return a description of what is wrong with the data directory, in which these folders should be.

    Returns "" if nothing is. Creates nothing, and does not say where it is: anybody may read the answer.
    """
    if missing := sorted(folders - folders_of(data_dir)):
        return Reason("the folder {0} of the data directory is gone", missing[0])
    if not os.access(data_dir, os.W_OK | os.X_OK):
        return gettext_noop("the data directory cannot be written to")
    free = shutil.disk_usage(data_dir).free
    return Reason("the disk has only {0} MB of free space", free // 1024**2) if free < NEARLY_FULL else ""


def keep_private(data_dir: Path) -> None:
    """Make the log, the graph and all files written from now on readable to their owner only.

    This holds for child processes, too.
    """
    os.umask(0o077)
    for name, mode in (("sparql", 0o700), ("hosts", 0o700), ("postgresql.log", 0o600)):
        if (data_dir / name).exists():
            (data_dir / name).chmod(mode)


def unusable(data_dir: Path, error: Exception) -> str:
    """Describe why a directory is unusable, and how to fix it."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, FileExistsError):  # of mkdir: the last part is there and no directory
        reason = "a link that leads nowhere" if data_dir.is_symlink() else "a file, not a directory"
    return (
        f"{data_dir} cannot be used ({reason}): set DATA_DIR to a directory that this user can make and write"
    )


def _readable(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True
