"""What fetched pages tell of the others: of this week, and of copies that waited as long."""

from __future__ import annotations

import pytest

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods.adaptive import Adaptive, ledger_of
from recrawl.methods.belief import ChangeBelief, believe
from recrawl.methods.ledger import Derived

PAGES = 30


def site() -> KnownServer:
    """A home page that links to all others, in two directories."""
    names = [f"{name}/{n}.html" for name in "ab" for n in range(PAGES)]
    server = KnownServer("index.html")
    server.store("index.html", names, 0.0)
    for name in names:
        server.store(name, (), 0.0)
    return server


def visit(server: KnownServer, number: float, found: dict[str, bool]) -> OpenVisit:
    """A visit that has fetched these pages, changed or not, and is not over."""
    made = OpenVisit(number, 5.0, 5.0)
    for path, changed in found.items():
        made.outcomes[path] = server.fetched(path, changed, server.pages[path].links, number)
    return made


def quiet(server: KnownServer, *numbers: int) -> None:
    """Visits that look at the home page alone, which is as stored."""
    for number in numbers:
        Adaptive().finish(server, visit(server, float(number), {"index.html": False}))


def believed(server: KnownServer, of: OpenVisit) -> ChangeBelief:
    return believe(server, of, ledger_of(server))


def stale(belief: ChangeBelief, path: str) -> float:
    """How likely the copy was stale before this visit."""
    return 1 - float(belief.past.sound[belief.gates.number[path]])


def fresh(belief: ChangeBelief, path: str) -> float:
    return float(belief.change_odds[belief.gates.number[path]])


def looked(server: KnownServer, number: float, *, changed: bool) -> ChangeBelief:
    """What is believed when five pages of one directory have been fetched."""
    some = {f"a/{n}.html": changed for n in range(5)}
    return believed(server, visit(server, number, {"index.html": False, **some}))


def test_finds_make_pages_that_waited_as_long_suspect() -> None:
    """What changed unseen some time ago is found by a few of the pages, in their directory above all."""
    server = site()
    quiet(server, 1, 2, 3, 4)
    before = stale(believed(server, visit(server, 5.0, {})), "a/9.html")
    hit = looked(server, 5.0, changed=True)
    assert stale(hit, "a/9.html") > 5 * before
    assert stale(hit, "a/9.html") > stale(hit, "b/9.html") > before


def test_pages_found_as_stored_speak_for_the_others() -> None:
    server = site()
    quiet(server, 1, 2, 3, 4)
    before = stale(believed(server, visit(server, 5.0, {})), "a/9.html")
    assert stale(looked(server, 5.0, changed=False), "a/9.html") < before


def test_a_page_that_was_fetched_since_is_no_more_suspect_than_before() -> None:
    """It would have shown what the others show."""
    server = site()
    quiet(server, 1, 2)
    Adaptive().finish(server, visit(server, 3.0, {"index.html": False, "a/20.html": False}))
    quiet(server, 4)
    before = stale(believed(server, visit(server, 5.0, {})), "a/20.html")
    hit = looked(server, 5.0, changed=True)
    assert stale(hit, "a/20.html") == pytest.approx(before)
    assert stale(hit, "a/9.html") > 5 * before


def test_what_was_learned_of_the_past_is_kept() -> None:
    """The visit after finds the same pages suspect."""
    server = site()
    quiet(server, 1, 2, 3, 4)
    made = visit(server, 5.0, {"index.html": False, **{f"a/{n}.html": True for n in range(5)}})
    told = stale(believed(server, made), "a/9.html")
    Adaptive().finish(server, made)
    again = believed(server, visit(server, 6.0, {}))
    assert stale(again, "a/9.html") > told * 0.99
    assert stale(again, "a/0.html") == 0


def test_a_find_on_a_copy_that_was_stale_anyway_tells_little_of_this_week() -> None:
    """The change is shared out between the weeks by how likely it is in each."""
    odds = []
    for doubted in (False, True):
        server = site()
        quiet(server, 1, 2)
        if doubted:
            for path, track in ledger_of(server).tracks.items():
                for row in track.values():
                    row.doubt = 4.0 if path.startswith("a/") else row.doubt
            ledger_of(server).derived = Derived()
        odds.append(fresh(looked(server, 3.0, changed=True), "a/9.html"))
    assert odds[1] < odds[0] / 3


def test_a_page_does_not_wait_in_the_visit_that_it_joined_in() -> None:
    server = site()
    made = visit(server, 1.0, {"index.html": True})
    server.store("a/new.html", (), 1.0)
    Adaptive().finish(server, made)
    belief = believed(server, visit(server, 2.0, {}))
    number = belief.gates.number
    assert belief.past.weeks[number["a/new.html"]] == 0 and stale(belief, "a/new.html") == 0
    assert belief.past.weeks[number["a/9.html"]] == 1
