"""What adaptive has learned comes back as it was."""

from __future__ import annotations

import zlib

import orjson

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods.adaptive import Adaptive
from recrawl.methods.ledger import VERSION, Ledger


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


def test_nothing_and_unknown_versions_begin_anew() -> None:
    assert Ledger.unpacked(b"") == Ledger()
    whole = orjson.loads(zlib.decompress(learned().packed()))
    for version in (1, VERSION - 1, VERSION + 1):
        other = zlib.compress(orjson.dumps([version, *whole[1:]]))
        assert Ledger.unpacked(other) == Ledger()
