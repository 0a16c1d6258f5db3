"""What changed between two versions of a text: hunks of lines, kept compressed. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import orjson

from crawler.reading.lines import Rules

CONTEXT = 2
MOST_WORK = 4_000_000
"""Lines times lines: beyond that what differs is told as one block."""
MOST_LINES = 4000
"""Lines of a difference that are kept; what is cut is counted."""

Operation = tuple[str, int, int, int, int]
Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows (kind, old line, new line) of hunks; kinds are same, edited, removed, added.

    `removed` and `added` count lines, `characters` those in them; `cut` rows were too many to keep.
    """

    hunks: tuple[tuple[Row, ...], ...] = ()
    removed: int = 0
    added: int = 0
    characters: int = 0
    cut: int = 0

    def packed(self) -> bytes:
        """Under zlib."""
        content = [self.hunks, self.removed, self.added, self.characters, self.cut]
        return zlib.compress(orjson.dumps(content), 6)

    @classmethod
    def unpacked(cls, content: bytes) -> Difference:
        """Back from `packed`; nothing from nothing."""
        if not content:
            return cls()
        hunks, *counts = orjson.loads(zlib.decompress(content))
        return cls(tuple(tuple(tuple(row) for row in hunk) for hunk in hunks), *counts)

    @property
    def lines_added(self) -> list[str]:
        """New lines, those that replace others among them."""
        return [new for hunk in self.hunks for kind, _, new in hunk if kind in {"added", "edited"}]

    @property
    def lines_removed(self) -> list[str]:
        """Lines that are there no more."""
        return [old for hunk in self.hunks for kind, old, _ in hunk if kind in {"removed", "edited"}]


def difference(old: Sequence[str], new: Sequence[str]) -> Difference:
    """From the old lines to the new ones, with two lines around each hunk."""
    operations = _operations(old, new)
    rows: list[tuple[Row, ...]] = []
    kept = cut = 0
    for group in _grouped(operations):
        hunk = [row for operation in group for row in _rows(operation, old, new)]
        room = max(MOST_LINES - kept, 0)
        cut += max(len(hunk) - room, 0)
        kept += len(hunk[:room])
        if room:
            rows.append(tuple(hunk[:room]))
    changed = [one for one in operations if one[0] != "equal"]
    gone = [line for _, a, b, _, _ in changed for line in old[a:b]]
    come = [line for _, _, _, a, b in changed for line in new[a:b]]
    return Difference(tuple(rows), len(gone), len(come), sum(map(len, gone)) + sum(map(len, come)), cut)


def _operations(old: Sequence[str], new: Sequence[str]) -> list[Operation]:
    """Difflib's opcodes; the lines that both begin and end with are set aside first."""
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - head) if old[-1 - at] != new[-1 - at]), most - head)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    inner: list[Operation]
    if len(a) * len(b) > MOST_WORK:
        inner = [("replace", 0, len(a), 0, len(b))]
    else:
        inner = list(SequenceMatcher(None, a, b, autojunk=False).get_opcodes())
    moved = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in inner]
    before = [("equal", 0, head, 0, head)] if head else []
    after = [("equal", len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []
    return [*before, *moved, *after]


def _grouped(operations: Sequence[Operation]) -> list[list[Operation]]:
    """Hunks: runs of operations between long stretches that are the same, these cut to their context."""
    groups: list[list[Operation]] = [[]]
    for number, (tag, i1, i2, j1, j2) in enumerate(operations):
        if tag != "equal":
            groups[-1].append((tag, i1, i2, j1, j2))
            continue
        first, last = number == 0, number == len(operations) - 1
        if i2 - i1 <= 2 * CONTEXT and not first and not last:
            groups[-1].append((tag, i1, i2, j1, j2))
            continue
        if not first:
            groups[-1].append((tag, i1, min(i1 + CONTEXT, i2), j1, min(j1 + CONTEXT, j2)))
        if not last:
            groups.append([(tag, max(i2 - CONTEXT, i1), i2, max(j2 - CONTEXT, j1), j2)])
    return [group for group in groups if any(one[0] != "equal" for one in group)]


def _rows(operation: Operation, old: Sequence[str], new: Sequence[str]) -> list[Row]:
    tag, i1, i2, j1, j2 = operation
    if tag == "equal":
        return [("same", line, line) for line in old[i1:i2]]
    paired = min(i2 - i1, j2 - j1)
    rows: list[Row] = [("edited", old[i1 + at], new[j1 + at]) for at in range(paired)]
    rows += [("removed", line, "") for line in old[i1 + paired : i2]]
    rows += [("added", "", line) for line in new[j1 + paired : j2]]
    return rows


def compared(old: Sequence[str], new: Sequence[str], rules: Rules) -> tuple[Difference, bool]:
    """What changed from one to the other (marked lines), and whether it counts.

    Where nothing that counts has changed, what has is told all the same.
    """
    gain = difference(rules.counting(old), rules.counting(new))
    if gain.hunks and gain.characters >= rules.least:
        return gain, True
    return difference([line[1:] for line in old], [line[1:] for line in new]), False
