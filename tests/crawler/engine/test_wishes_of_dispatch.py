"""Many ask for work to be handed out; one handing-out answers all who asked before it began."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from crawler.engine import leases, tasks


def test_a_wish_from_before_the_last_handing_out_is_served_already(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[datetime] = []

    def hand_out(now: datetime) -> list[object]:
        begun.append(now)
        return []

    monkeypatch.setattr(leases, "hand_out", hand_out)
    before = time.time()
    tasks.dispatch(before)
    for _ in range(100):
        tasks.dispatch(before)
    assert len(begun) == 1
    tasks.dispatch(time.time())
    tasks.dispatch()  # of a tick, which waits for nobody
    assert len(begun) == 3
