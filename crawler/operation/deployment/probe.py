"""A probe for containers: `python -m crawler.operation.deployment.probe` ends with 0 if all is well."""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request

SECONDS = 4.0


def is_healthy(port: str) -> bool:
    """Return whether the web server at a port of this machine says that all is well."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=SECONDS) as response:
            return bool(response.status == 200)
    except (OSError, ValueError):
        return False


if __name__ == "__main__":
    sys.exit(0 if is_healthy(os.environ.get("PORT", "8000")) else 1)
