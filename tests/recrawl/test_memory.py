"""What adaptive has learned comes back as it was."""

from __future__ import annotations

import zlib
from typing import Any

import orjson

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods.adaptive import Adaptive
from recrawl.methods.ledger import KINDS, VERSION, Ledger


def learned() -> Ledger:
    server = KnownServer("/")
    for path in ("/", "/a/", "/a/b", "/ü"):
        server.store(path, ("/", "/a/", "/a/b"), 0.0)
    for number in range(1, 6):
        visit = OpenVisit(float(number), 2.0, 2.0, signals={"sitemap": {"/a/b": number % 2 == 0}})
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
    assert Ledger.unpacked(ledger.packed()) == ledger


def as_version_2() -> tuple[Ledger, list[Any]]:
    """A ledger, and what was written of it when three kinds were told apart: it has seen no other."""
    ledger = learned()
    whole = orjson.loads(zlib.decompress(ledger.packed()))

    def narrowed(situation: int) -> int:
        top, kind = divmod(situation, KINDS)
        assert kind < 3
        return 3 * top + kind

    site = [[narrowed(row[0]), *row[1:]] for row in whole[1]]
    directories = [[row[0], narrowed(row[1]), *row[2:]] for row in whole[2]]
    tracks = {path: [[narrowed(row[0]), *row[1:]] for row in track] for path, track in whole[3].items()}
    assert any(row[0] >= 3 for row in site)
    return ledger, [2, site, directories, tracks, *whole[4:]]


def test_what_version_2_kept_is_read() -> None:
    ledger, content = as_version_2()
    assert Ledger.unpacked(zlib.compress(orjson.dumps(content))) == ledger


def test_what_version_1_kept_is_read_with_checks_for_weeks() -> None:
    ledger, content = as_version_2()
    tracks = {path: [row[:-1] for row in track] for path, track in content[3].items()}
    old = zlib.compress(orjson.dumps([1, *content[1:3], tracks, *content[4:]]))
    for track in ledger.tracks.values():
        for one in track.values():
            one.span = one.checks
    assert Ledger.unpacked(old) == ledger


def test_nothing_and_unknown_versions_begin_anew() -> None:
    assert Ledger.unpacked(b"") == Ledger()
    whole = orjson.loads(zlib.decompress(learned().packed()))
    newer = zlib.compress(orjson.dumps([VERSION + 1, *whole[1:]]))
    assert Ledger.unpacked(newer) == Ledger()
