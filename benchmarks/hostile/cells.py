"""A run over cells: begun, brought to rest, judged. Who does the work is the caller's business."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from benchmarks.hostile import wire
from benchmarks.hostile.kind import Cell, Kind, Seen, World, build
from benchmarks.hostile.kinds import KINDS
from benchmarks.hostile.poisons import POISONS, Poison
from crawler.failures import Failure

LOOK_SECONDS = 0.4
_ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
_PHASES = {"error", "entities"}
"""Names that the pipeline has beside the taxonomy's."""


def cells_of(
    kinds: Sequence[Kind] = KINDS, poisons: Sequence[Poison] = POISONS, *, quick: bool = False
) -> list[Cell]:
    """Every kind with every poison that concerns it; each cell on a loopback address of its own.

    With `quick` those that cost little: of the ways to write an answer, which one client reads for all kinds,
    some kinds see all and the others two; and each of the kinds at sites sees half of the poisons.
    """
    return [
        Cell(kind, poison, f"127.{64 + KINDS.index(kind)}.{1 + POISONS.index(poison)}.7")
        for kind in kinds
        for poison in poisons
        if kind.concerned(kind, poison) and not (quick and _left_out(kind, poison))
    ]


def _left_out(kind: Kind, poison: Poison) -> bool:
    if kind.site_wide and (KINDS.index(kind) + POISONS.index(poison)) % 2:
        return True  # four kinds that share their reading: each poison meets at least one of them
    return poison.costly or not (kind.every_answer or poison.send in {None, wire.silence, wire.reset})


@dataclass
class Run:
    """What became of the cells: `faults` in words, none where a cell is as promised."""

    world: World
    cells: Sequence[Cell]
    faults: dict[Cell, list[str]] = field(default_factory=dict)
    seen: dict[Cell, Seen] = field(default_factory=dict)
    turned: set[Cell] = field(default_factory=set)

    def begin(self) -> None:
        """Put the hosts there and give the product all its work."""
        self.faults = {cell: [] for cell in self.cells}
        self.world.server.sites |= {cell.address: build(self.world, cell) for cell in self.cells}
        for kind, mine in self._kinds(self.cells):
            try:
                kind.begin(self.world, kind, mine)
            except Exception as error:
                self._blame(mine, f"could not be begun: {error}"[:300])

    def work(
        self,
        step: Callable[[], bool],
        seconds: float,
        rest: float,
        stall: float,
        tell: Callable[[int], None] = lambda waiting: None,
    ) -> None:
        """Let it work until all cells are settled, or nothing moves for `stall` seconds, and `rest` more.

        A `step` waits, or works and says whether there was something to do. `seconds` are the most that it
        takes until then; `tell` hears how many cells are awaited.
        """
        now = moved = time.monotonic()
        until, looked, before = now + seconds, 0.0, -1
        while now < until and now - moved < stall and (waiting := self.waiting()):
            worked = step()
            now = time.monotonic()
            moved = now if worked else moved
            if now - looked > LOOK_SECONDS * (1 + len(waiting) / 50):
                self._look(waiting)
                tell(len(waiting))
                looked, left = now, self._left()
                if left != before:
                    before, moved = left, time.monotonic()
        until = time.monotonic() + rest
        while time.monotonic() < until:
            step()
        self._look(self.cells)
        for cell in self.cells:
            self.faults[cell] += judged(self.world, cell, self.seen.get(cell, Seen()))

    def waiting(self) -> list[Cell]:
        """Cells that are not settled."""
        return [
            cell
            for cell in self.cells
            if not self.seen.get(cell, Seen()).settled or (cell.kind.turn and cell not in self.turned)
        ]

    def _left(self) -> int:
        """What is still to come, counted."""
        turns = sum(1 for cell in self.cells if cell.kind.turn and cell not in self.turned)
        return turns + sum(
            len(seen.missing) + (not seen.stored and not seen.failure) for seen in self.seen.values()
        )

    def _look(self, cells: Sequence[Cell]) -> None:
        self.world.forget()
        for kind, mine in self._kinds(cells):
            try:
                found = kind.look(self.world, kind, mine)
                for cell in mine:
                    if kind.turn and found[cell].ready and cell not in self.turned:
                        self.world.server.sites[cell.address].poisoned = True
                        self.turned.add(cell)
                        kind.turn(self.world, cell)
            except Exception as error:  # the product's answer may be anything
                found = {cell: Seen(trouble=f"cannot be looked at: {error}"[:300]) for cell in mine}
            self.seen |= found

    def _kinds(self, cells: Sequence[Cell]) -> Iterator[tuple[Kind, list[Cell]]]:
        for kind in KINDS:
            mine = [cell for cell in cells if cell.kind is kind]
            if mine:
                yield kind, mine

    def _blame(self, cells: Sequence[Cell], words: str) -> None:
        for cell in cells:
            self.faults[cell].append(words)


def judged(world: World, cell: Cell, seen: Seen) -> list[str]:
    """What is not as promised of a cell."""
    found = [seen.trouble] if seen.trouble else []
    if seen.missing:
        found.append(f"neighbours are not stored: {', '.join(seen.missing)}")
    if world.sent(cell) > cell.poison.max_requests:
        found.append(f"{world.sent(cell)} requests to the poison")
    if cell.kind.turn and not seen.ready and not (seen.stored or seen.failure):
        found.append("never came as far as the poison")
    elif not seen.stored and not seen.failure:
        found.append("neither stored nor failed")
    if seen.failure:
        found += _failure(world, seen)
    if odd := next(_odd_signs(seen.said), ""):
        found.append(f"the API gives out {odd[:40]!r}")
    return found


def known_failure(name: str) -> bool:
    """Whether the taxonomy, or the pipeline, has this name."""
    try:
        Failure.of(name)
    except ValueError:
        return name in _PHASES
    return True


def _failure(world: World, seen: Seen) -> Iterator[str]:
    if not seen.in_words and not known_failure(seen.failure):
        yield f"the failure {seen.failure!r} is not in the taxonomy"
    if not seen.named:
        yield f"the API does not name the failure {seen.failure!r}"
    if not seen.page:
        return
    reply = world.api.page(seen.page)
    if reply.status != 200:
        yield f"{seen.page} answers {reply.status}"
    elif not _shown(seen.failure, unescape(reply.body.decode("utf-8", "replace"))):
        yield f"{seen.page} does not show {seen.failure!r}"


def _shown(failure: str, page: str) -> bool:
    """Whether a page has a failure's name, as programs or as people spell it."""
    words = {failure, failure.replace("-", " "), failure.removeprefix("http-"), "robots.txt", "TLS", "DNS"}
    spelled = words if failure in {"robots", "tls", "dns"} else words - {"robots.txt", "TLS", "DNS"}
    return any(one in page for one in spelled)


def _odd_signs(said: Any) -> Iterator[str]:
    """Texts with signs that no page and no reader can take."""
    if isinstance(said, dict):
        for value in said.values():
            yield from _odd_signs(value)
    elif isinstance(said, list):
        for value in said:
            yield from _odd_signs(value)
    elif isinstance(said, str) and _ODD.search(said):
        yield said
