"""Places that messages go to: programs whose answers are poisoned, beside one that takes every message."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.hostile.kind import Cell, Kind, Seen, World
from benchmarks.hostile.server import Answer

NEIGHBOUR = "neighbour"


def hooks_site(world: World, cell: Cell) -> dict[str, Answer]:
    return {path: Answer(lambda: b"", "text/plain", status=202) for path in ("/hook", "/good")}


def begin_hooks(world: World, kind: Kind, cells: Sequence[Cell]) -> None:
    """Make a rule with two targets for each cell, the neighbour shared by all, and let each send a test."""
    good = _target(world, NEIGHBOUR, world.url(cells[0], "/good"))
    for cell in cells:
        targets = [_target(world, cell.address, world.url(cell, "/hook")), good]
        rule = world.api.post("/api/notification-rules/", name=cell.address, when="article", targets=targets)
        world.api.post(f"/api/notification-rules/{rule['id']}/test/")


def look_at_hooks(world: World, kind: Kind, cells: Sequence[Cell]) -> dict[Cell, Seen]:
    messages = {(row["title"], row["target_name"]): row for row in world.rows("/api/notification-messages/")}
    seen = {}
    for cell in cells:
        poisoned = messages.get((cell.address, cell.address), {})
        good = messages.get((cell.address, NEIGHBOUR), {})
        seen[cell] = Seen(
            stored=poisoned.get("state") == "sent",
            failure=poisoned.get("failure", ""),
            missing=() if good.get("state") == "sent" else (NEIGHBOUR,),
            said=[poisoned, good],
            page="/me/notifications/log/",
            in_words=True,
        )
    return seen


def _target(world: World, name: str, address: str) -> int:
    return int(world.api.post("/api/notification-targets/", kind="webhook", name=name, webhook=address)["id"])
