"""Where Freshet keeps what it makes itself: one directory for the cluster, secrets, logs and static files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

# initdb and postgres refuse to run as root; then they run as this user (see postgresql.py).
UNPRIVILEGED = "nobody"


def traversable(path: Path) -> bool:
    """Whether any user can reach `path`: every existing directory on the way lets others pass."""
    parents = [p for p in (path.absolute(), *path.absolute().parents) if p.exists()]
    return all(p.stat().st_mode & 0o001 for p in parents)


def default_data_dir(checkout: Path) -> Path:
    """`var/` in the checkout; for root in a checkout that others cannot reach, a place under /var/lib.

    The second is named after the checkout, so that two checkouts never share a cluster.
    """
    if os.geteuid() != 0 or traversable(checkout):
        return checkout / "var"
    mark = hashlib.sha256(str(checkout).encode()).hexdigest()[:8]
    return Path("/var/lib") / f"freshet-{mark}"
