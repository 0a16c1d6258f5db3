"""What adaptive has learned comes back as it was."""

from __future__ import annotations

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


def test_nothing_and_other_versions_begin_anew(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    assert memory.unpacked(b"") == Ledger()
    old = memory.packed(learned())
    monkeypatch.setattr(memory, "VERSION", 2)
    assert memory.unpacked(old) == Ledger()
