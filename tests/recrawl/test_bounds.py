"""The bound and the textbook, beside which replays show the methods."""

from __future__ import annotations

from recrawl.methods.oracle import Oracle
from recrawl.methods.textbook import Textbook
from recrawl.visiting.known_server import KnownServer, OpenVisit


def server() -> KnownServer:
    made = KnownServer("/")
    for path in ("/", "/a", "/b", "/c"):
        made.store(path, ("/a", "/b", "/c"), 0.0)
    return made


def test_the_oracle_fetches_stale_pages_alone_the_newest_changes_first() -> None:
    visit = OpenVisit(5.0, 4, 1.0, stale={"/c": False, "/b": True, "/gone": True})
    assert Oracle().following(server(), visit) == ["/b", "/c"]
    visit.saves = False
    assert Oracle().following(server(), visit)[:2] == ["/b", "/c"]
    assert Oracle().following(server(), OpenVisit(5.0, 4, 1.0)) == []


def test_the_textbook_fetches_what_changes_and_waits_longest() -> None:
    made = server()
    for number in range(1, 5):
        for path, changed in (("/a", True), ("/b", False)):
            made.fetched(path, changed, made.pages[path].links, float(number))
    order = Textbook().following(made, OpenVisit(5.0, 4, 1.0))
    assert order.index("/a") < order.index("/b")
    assert order.index("/c") < order.index("/b")  # waits since the beginning
    made.pages["/a"].checks = made.pages["/a"].changes = 200  # changes every week: beyond help
    assert set(Textbook().following(made, OpenVisit(5.0, 4, 1.0))) == {"/", "/a", "/b", "/c"}
