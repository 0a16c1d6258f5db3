"""The reasons for fetching a page in a visit, in words. Pure."""

from __future__ import annotations

from collections.abc import Container

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods.gates import gates_of

MAX_LENGTH = 200


def reason(path: str, server: KnownServer, visit: OpenVisit, naming: Container[str] = ()) -> str:
    """Return the first reason that applies: the top page, announced, one that should name new pages
    (`naming`), behind a gate that changed, a gate, or its turn.
    """
    if path == server.top:
        return "the top page"
    for source, announcements in visit.signals.items():
        if announcements.get(path):
            return f"announced by {source}"[:MAX_LENGTH]
    if path in naming:
        return "should name pages that are new"
    gates = server.derived(gates_of)
    opened = next((gate for gate in gates.of(path) if visit.changed(gate)), None)
    if opened is not None:
        return f"{opened} changed, which leads here"[:MAX_LENGTH]
    others = int(gates.behind[gates.number[path]])
    if others:
        return f"tells of {others} other page{'s' if others > 1 else ''}"
    visits = round(visit.now - server.pages[path].fetched)
    return "its turn" if visits < 2 else f"not asked for in {visits} visits"
