"""Write docs/api-1.txt, what programs may rely on in the API: `make api`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings")
os.environ.setdefault("DATABASE_URL", "none")

FILE = ROOT / "docs" / "api-1.txt"


def main() -> None:
    import django  # noqa: PLC0415 - after its settings are named

    django.setup()
    from drf_spectacular.generators import SchemaGenerator  # noqa: PLC0415

    from tests.api_listing import listing  # noqa: PLC0415

    document = SchemaGenerator().get_schema(request=None, public=True)
    FILE.write_text("\n".join(listing(document)) + "\n")


if __name__ == "__main__":
    main()
