"""The reasons for fetching a page in a visit, in words. Pure."""

from __future__ import annotations

from collections.abc import Container

from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from recrawl.methods.gates import gates_of
from recrawl.visiting.known_server import KnownServer, OpenVisit

MAX_LENGTH = 150


def reason(path: str, server: KnownServer, visit: OpenVisit, naming: Container[str] = ()) -> str:
    """Return the first reason that applies: the top page, announced, one that should name new pages
    (`naming`), behind a gate that changed, a gate, or its turn.
    """
    if path == server.top:
        return gettext_noop("the top page")
    for source, announcements in visit.signals.items():
        if announcements.get(path):
            return Reason("announced by {0}", source[:MAX_LENGTH])
    if path in naming:
        return gettext_noop("should name pages that are new")
    gates = server.derived(gates_of)
    opened = next((gate for gate in gates.of(path) if visit.changed(gate)), None)
    if opened is not None:
        return Reason("{0} changed, which leads here", opened[:MAX_LENGTH])
    others = int(gates.behind[gates.number[path]])
    if others:
        singular, plural = gettext_noop("tells of {0} other page"), gettext_noop("tells of {0} other pages")
        return Reason(plural if others > 1 else singular, others)
    visits = round(visit.now - server.pages[path].fetched)
    return gettext_noop("its turn") if visits < 2 else Reason("not asked for in {0} visits", visits)
