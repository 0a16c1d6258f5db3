"""What adaptive has learned comes back as it was."""

from __future__ import annotations

import zlib

import orjson

from recrawl import memory
from recrawl.knowledge import Server, Visit
from recrawl.methods.adaptive import Adaptive
from recrawl.methods.ledger import Ledger


def learned() -> Ledger:
    server = Server("/")
    for path in ("/", "/a/", "/a/b", "/ü"):
        server.store(path, ("/", "/a/", "/a/b"), 0.0)
    for number in range(1, 6):
        visit = Visit(float(number), 2.0, 2.0, signals={"sitemap": {"/a/b": number % 2 == 0}})
        visit.outcomes["/"] = server.fetched("/", number % 2 == 0, server.pages["/"].links, visit.now)
        visit.outcomes["/a/b"] = server.fetched("/a/b", True, (), visit.now)
        Adaptive().finish(server, visit)
    found = server.memory["adaptive"]
    assert isinstance(found, Ledger)
    return found


def test_it_comes_back_as_it_was() -> None:
    ledger = learned()
    assert ledger.tracks
    assert ledger.trust
    assert ledger.demands
    assert memory.unpacked(memory.packed(ledger)) == ledger


def test_what_version_1_kept_is_read_with_checks_for_weeks() -> None:
    ledger = learned()
    whole = orjson.loads(zlib.decompress(memory.packed(ledger)))
    tracks = {path: [row[:-1] for row in track] for path, track in whole[3].items()}
    old = zlib.compress(orjson.dumps([1, *whole[1:3], tracks, *whole[4:]]))
    for track in ledger.tracks.values():
        for one in track.values():
            one.span = one.checks
    assert memory.unpacked(old) == ledger


def test_nothing_and_unknown_versions_begin_anew() -> None:
    assert memory.unpacked(b"") == Ledger()
    whole = orjson.loads(zlib.decompress(memory.packed(learned())))
    newer = zlib.compress(orjson.dumps([memory.VERSION + 1, *whole[1:]]))
    assert memory.unpacked(newer) == Ledger()
