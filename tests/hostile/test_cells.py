"""Every kind of work with every poison: its neighbours are stored, and it ends by a name after few requests.

All poisons of a kind go through the engine together. What takes seconds of processor time is left to
`python -m benchmarks.hostile`; sites that are watched are in `test_cells_of_sites.py`.
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.hostile.kind import Kind
from benchmarks.hostile.kinds import KINDS
from tests.hostile.inline import run_kind, told

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("product")]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.site_wide], ids=lambda kind: kind.name)
def test_a_poison_harms_only_itself(kind: Kind, live_server: Any, settings: Any) -> None:
    found = run_kind(kind, live_server.url, settings)
    assert not found, told(found)
