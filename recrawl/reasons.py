"""Why a visit fetches a page, in words. Pure."""

from __future__ import annotations

from recrawl.knowledge import Server, Visit
from recrawl.methods.gates import gates

LONGEST = 200


def reason(path: str, server: Server, visit: Visit) -> str:
    """The first that holds: the top page, announced, behind a gate that changed, a gate, or its turn."""
    if path == server.top:
        return "the top page"
    for source, named in visit.signals.items():
        if named.get(path):
            return f"announced by {source}"[:LONGEST]
    told = server.derived(gates)
    opened = next((gate for gate in told.of(path) if visit.changed(gate)), None)
    if opened is not None:
        return f"{opened} changed, which leads here"[:LONGEST]
    others = int(told.behind[told.number[path]])
    if others:
        return f"tells of {others} other page{'s' if others > 1 else ''}"
    visits = round(visit.now - server.pages[path].fetched)
    return "its turn" if visits < 2 else f"not asked for in {visits} visits"
