"""What `adaptive` keeps of a site between visits, as bytes. Pure."""

from __future__ import annotations

import zlib

import orjson

from recrawl.methods.ledger import KINDS, Ledger, Track

VERSION = 3


def packed(ledger: Ledger) -> bytes:
    """JSON under zlib."""
    content = [
        VERSION,
        [[*cell, *row] for cell, row in ledger.site.items()],
        [[*cell, *row] for cell, row in ledger.sections.items()],
        {
            path: [
                [number, one.weeks, one.doubt, one.checks, one.changes, one.span]
                for number, one in track.items()
            ]
            for path, track in ledger.tracks.items()
        },
        ledger.demands,
        ledger.trust,
    ]
    return zlib.compress(orjson.dumps(content), 1)


def unpacked(content: bytes) -> Ledger:
    """The ledger back; an empty one from nothing, or from what a version that is not known wrote.

    Version 1 did not count the weeks themselves, and took checks for them; version 2 knew three kinds of
    pages for each state of the top page, which are the first three of now.
    """
    if not content:
        return Ledger()
    version, site, sections, tracks, demands, trust = orjson.loads(zlib.decompress(content))
    if version == 1:
        tracks = {path: [[*row, row[3]] for row in track] for path, track in tracks.items()}
    if version in {1, 2}:
        site = [[_widened(situation), *rest] for situation, *rest in site]
        sections = [[name, _widened(situation), *rest] for name, situation, *rest in sections]
        tracks = {path: [[_widened(row[0]), *row[1:]] for row in track] for path, track in tracks.items()}
    elif version != VERSION:
        return Ledger()
    return Ledger(
        {(situation, habit): row for situation, habit, *row in site},
        {(name, situation, habit): row for name, situation, habit, *row in sections},
        {path: {number: Track(*row) for number, *row in track} for path, track in tracks.items()},
        demands,
        trust,
    )


def _widened(situation: int) -> int:
    """A situation of version 2, where three kinds were told apart."""
    top, kind = divmod(situation, 3)
    return KINDS * top + kind
