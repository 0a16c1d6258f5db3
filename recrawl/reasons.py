"""Why a visit fetches a page, in words. Pure."""

from __future__ import annotations

from recrawl.knowledge import Server, Visit
from recrawl.methods.belief import gates
from recrawl.structure import Graph

LONGEST = 200


def reason(path: str, server: Server, visit: Visit) -> str:
    """The first that holds: the top page, announced, behind a gate that changed, a gate, or its turn."""
    if path == server.top:
        return "the top page"
    for source, named in visit.signals.items():
        if named.get(path):
            return f"announced by {source}"[:LONGEST]
    told = server.derived(gates)
    opened = next((gate for gate in told.get(path, ()) if visit.changed(gate)), None)
    if opened is not None:
        return f"{opened} changed, which leads here"[:LONGEST]
    behind = server.derived(_behind).get(path, 0)
    if behind:
        return f"tells of {behind} other page{'s' if behind > 1 else ''}"
    visits = round(visit.now - server.pages[path].fetched)
    return "its turn" if visits < 2 else f"not asked for in {visits} visits"


def _behind(graph: Graph) -> dict[str, int]:
    """How many pages each top tells of."""
    counts: dict[str, int] = {}
    for tops in gates(graph).values():
        for top in tops:
            counts[top] = counts.get(top, 0) + 1
    return counts
