"""The constants that the command varies are those of the method."""

from __future__ import annotations

import pytest

from benchmarks.recrawl_constants import CONSTANTS, _scaled
from recrawl.methods import adaptive


@pytest.mark.parametrize("name", CONSTANTS)
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_constant_is_scaled_to_another_of_its_kind(name: str, factor: float) -> None:
    value = getattr(adaptive, name)
    scaled = _scaled(value, factor)
    if isinstance(value, tuple):
        assert all(0 < odds < 1 for odds in scaled)
        assert (scaled[0] > value[0]) == (factor > 1)
    else:
        assert scaled == value * factor
