"""Differences between two lines, word by word. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cydifflib import SequenceMatcher

MAX_WORK = 250_000
"""Old words times new words. Lines with more are taken as wholly different."""
MIN_SHARE = 0.25
"""Lines with a smaller share of equal words are taken as wholly different: scattered words tell nothing."""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+(?:[.,:'’\-][^\W_]+)*|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a line, which the other line has too or not."""

    text: str
    differs: bool


def word_difference(old: str, new: str) -> tuple[list[Piece], list[Piece]]:
    """Return the pieces of the old and of the new line."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    if len(before) * len(after) > MAX_WORK:
        return [Piece(old, True)], [Piece(new, True)]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    operations = matcher.get_opcodes()
    equal = sum(len("".join(before[i1:i2]).strip()) for tag, i1, i2, _, _ in operations if tag == "equal")
    if equal < MIN_SHARE * max(len(old.strip()), len(new.strip()), 1):
        return [Piece(old, True)], [Piece(new, True)]
    return (
        _pieces((tag != "equal", before[i1:i2]) for tag, i1, i2, _, _ in operations),
        _pieces((tag != "equal", after[j1:j2]) for tag, _, _, j1, j2 in operations),
    )


def _pieces(runs: Iterator[tuple[bool, Sequence[str]]]) -> list[Piece]:
    """Join runs of words. A space between two different words differs with them."""
    pieces: list[Piece] = []
    for differs, words in runs:
        text = "".join(words)
        if not text:
            continue
        if differs and len(pieces) > 1 and pieces[-1].text.isspace() and pieces[-2].differs:
            text = pieces.pop(-2).text + pieces.pop().text + text
        pieces.append(Piece(text, differs))
    return pieces
