"""Differences between two versions of a text: hunks of lines, stored compressed. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from cydifflib import SequenceMatcher

from crawler.reading.lines import Rules

CONTEXT = 2
MAX_WORK = 4_000_000
"""Old lines times new lines. Larger differences are reported as one block."""
MAX_LINES = 4000
"""Lines kept of a difference. Lines beyond are counted in `cut`."""

Operation = tuple[str, int, int, int, int]
Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Difference:
    """Hunks of rows (kind, old line, new line). Kinds are same, edited, removed, added.

    `removed` and `added` count lines, `characters` the characters in them, `cut` the rows beyond MAX_LINES.
    """

    hunks: tuple[tuple[Row, ...], ...] = ()
    removed: int = 0
    added: int = 0
    characters: int = 0
    cut: int = 0

    def packed(self) -> bytes:
        """Return the stored form: JSON under zlib."""
        content = [self.hunks, self.removed, self.added, self.characters, self.cut]
        return zlib.compress(orjson.dumps(content), 6)

    @classmethod
    def unpacked(cls, content: bytes) -> Difference:
        """Read a difference back. Returns an empty one for empty content."""
        if not content:
            return cls()
        hunks, *counts = orjson.loads(zlib.decompress(content))
        return cls(tuple(tuple(tuple(row) for row in hunk) for hunk in hunks), *counts)

    @property
    def lines_added(self) -> list[str]:
        """Return the new lines, including those that replace others."""
        return [new for hunk in self.hunks for kind, _, new in hunk if kind in {"added", "edited"}]

    @property
    def lines_removed(self) -> list[str]:
        """Return the old lines that were removed or replaced."""
        return [old for hunk in self.hunks for kind, old, _ in hunk if kind in {"removed", "edited"}]


def difference(old: Sequence[str], new: Sequence[str]) -> Difference:
    """Return the difference from the old lines to the new ones, with CONTEXT lines around each hunk."""
    operations = _operations(old, new)
    rows: list[tuple[Row, ...]] = []
    line_count = cut = 0
    for group in _grouped(operations):
        hunk = [row for operation in group for row in _rows(operation, old, new)]
        room = max(MAX_LINES - line_count, 0)
        cut += max(len(hunk) - room, 0)
        line_count += len(hunk[:room])
        if room:
            rows.append(tuple(hunk[:room]))
    changed = [operation for operation in operations if operation[0] != "equal"]
    removed = [line for _, a, b, _, _ in changed for line in old[a:b]]
    added = [line for _, _, _, a, b in changed for line in new[a:b]]
    return Difference(
        tuple(rows), len(removed), len(added), sum(map(len, removed)) + sum(map(len, added)), cut
    )


def _operations(old: Sequence[str], new: Sequence[str]) -> list[Operation]:
    """Return difflib's opcodes. The common beginning and end are set aside before the comparison."""
    shorter = min(len(old), len(new))
    # Most pages change in one place, so that little is left to compare.
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    inner: list[Operation]
    if len(a) * len(b) > MAX_WORK:
        inner = [("replace", 0, len(a), 0, len(b))]
    else:
        # autojunk takes lines that are frequent in long texts for noise, and reports them as changed.
        inner = list(SequenceMatcher(None, a, b, autojunk=False).get_opcodes())
    moved = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in inner]
    before = [("equal", 0, head, 0, head)] if head else []
    after = [("equal", len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []
    return [*before, *moved, *after]


def _grouped(operations: Sequence[Operation]) -> list[list[Operation]]:
    """Return hunks: runs of operations, separated by long equal stretches, which are cut to their context."""
    groups: list[list[Operation]] = [[]]
    for number, (tag, i1, i2, j1, j2) in enumerate(operations):
        if tag != "equal":
            groups[-1].append((tag, i1, i2, j1, j2))
            continue
        first, last = number == 0, number == len(operations) - 1
        # Closer hunks would show the lines between them twice.
        if i2 - i1 <= 2 * CONTEXT and not first and not last:
            groups[-1].append((tag, i1, i2, j1, j2))
            continue
        if not first:
            groups[-1].append((tag, i1, min(i1 + CONTEXT, i2), j1, min(j1 + CONTEXT, j2)))
        if not last:
            groups.append([(tag, max(i2 - CONTEXT, i1), i2, max(j2 - CONTEXT, j1), j2)])
    return [group for group in groups if any(operation[0] != "equal" for operation in group)]


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
    """Compare two versions (marked lines). Returns the difference, and whether it counts.

    If nothing that counts has changed, the difference includes lines that do not count.
    """
    gain = difference(rules.counting(old), rules.counting(new))
    if gain.hunks and gain.characters >= rules.least:
        return gain, True
    # Lines begin with a mark of whether they count, which is not for people.
    return difference([line[1:] for line in old], [line[1:] for line in new]), False
