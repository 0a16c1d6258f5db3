"""What each method fetches of a server that it knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.methods.adaptive import Adaptive, causes_of
from recrawl.methods.base import Method
from recrawl.methods.registry import METHODS, make_method
from recrawl.methods.sampling import chosen
from recrawl.visiting.known_server import CheckOutcome, KnownServer, OpenVisit
from tests.recrawl.test_division import FIGURE_4

ALL = set(FIGURE_4)


class Site(KnownServer):
    """What is known of a site, and which of its pages have changed since they were fetched."""

    def __init__(self, top: str) -> None:
        super().__init__(top)
        self.stale: set[str] = set()


def known(links: dict[str, list[str]]) -> Site:
    server = Site(next(iter(links)))
    for path, targets in links.items():
        server.store(path, targets, 0.0)
    return server


def visited(
    method: Method, server: KnownServer, changed: set[str], visit: OpenVisit | None = None
) -> list[str]:
    """The pages that a visit fetches, in order."""
    visit = visit or OpenVisit(1.0)
    while visit.budget >= 1 and (wanted := method.following(server, visit)):
        for path in wanted:
            if visit.budget >= 1:
                assert path not in visit.outcomes
                visit.outcomes[path] = CheckOutcome(path in changed, visit.now - server.pages[path].fetched)
                visit.budget -= 1
    return list(visit.outcomes)


@pytest.mark.parametrize(
    ("name", "changed", "fetched"),
    [
        ("A", set(), {"a/A", "d/D", "d/F", "g/G"}),
        ("A", {"d/D"}, {"a/A", "d/D", "d/F", "g/G", "d/E"}),
        ("B", set(), {"a/A", "d/D", "d/E", "g/G"}),
        ("B", {"g/G"}, {"a/A", "d/D", "d/E", "g/G", "g/H"}),
        ("B", {"d/E"}, {"a/A", "d/D", "d/E", "g/G", "d/F"}),
        # C on the same graph: nothing below A is looked at unless A has changed.
        ("C", set(), {"a/A"}),
        ("C", {"g/G", "d/D"}, {"a/A"}),
        ("C", {"a/A"}, {"a/A", "a/B", "a/C", "d/D", "g/G"}),
        ("C", {"a/A", "g/G"}, {"a/A", "a/B", "a/C", "d/D", "g/G", "g/H"}),
        ("C", {"a/A", "d/D"}, {"a/A", "a/B", "a/C", "d/D", "g/G", "d/E"}),
        ("C", {"a/A", "d/D", "d/E"}, ALL - {"g/H"}),
        ("breadth-first", set(), ALL),
        ("history", set(), ALL),
    ],
)
def test_what_is_fetched_of_figure_4(name: str, changed: set[str], fetched: set[str]) -> None:
    assert set(visited(make_method(name), known(FIGURE_4), changed)) == fetched


def test_breadth_first_goes_by_depth_and_on_where_it_stopped() -> None:
    server = known(FIGURE_4)
    first = visited(make_method("breadth-first"), server, set(), OpenVisit(1.0, 3, 3))
    assert first == ["a/A", "a/B", "a/C"]
    for path in first:
        server.fetched(path, False, FIGURE_4[path], 1.0)
    assert visited(make_method("breadth-first"), server, set(), OpenVisit(2.0, 3, 3)) == ["d/D", "d/F", "g/G"]


def test_history_goes_by_how_often_pages_have_changed() -> None:
    server = known(FIGURE_4)
    for week, changed in enumerate([{"g/H", "d/F"}, {"g/H"}], 1):
        for path in FIGURE_4:
            server.fetched(path, path in changed, FIGURE_4[path], float(week))
    assert visited(make_method("history"), server, set(), OpenVisit(3.0, 2, 2)) == ["g/H", "d/F"]


def test_a_sample_tells_whether_a_server_is_visited() -> None:
    server = known(FIGURE_4)
    sample = chosen(server, 1.0)
    assert len(sample) == 3
    assert sample == chosen(server, 1.0)
    assert any(chosen(server, float(week)) != sample for week in range(2, 9))
    assert visited(make_method("server-sampling"), server, set()) == sample
    assert set(visited(make_method("server-sampling"), server, {sample[0]})) == ALL
    assert set(visited(make_method("server-sampling+C"), server, {sample[0]} - {"a/A"})) == {*sample, "a/A"}


def week(
    method: Adaptive,
    server: Site,
    number: float,
    changed: set[str],
    budget: float = 100.0,
    *,
    weekly: float = 0.0,
) -> list[str]:
    """A visit as the replay makes it; without `weekly` nothing is saved."""
    visit = OpenVisit(number, budget, weekly or budget)
    fetched = []
    server.stale |= changed
    while visit.budget >= 1 and (wanted := method.following(server, visit)):
        for path in wanted[: int(visit.budget)]:
            fetched.append(path)
            visit.budget -= 1
            links = server.pages[path].links
            visit.outcomes[path] = server.fetched(path, path in server.stale, links, number)
            server.stale.discard(path)
    method.finish(server, visit)
    return fetched


def saving(
    method: Adaptive, server: KnownServer, weeks: int, weekly: float, changed: Callable[[int], set[str]]
) -> Iterator[list[str]]:
    """What is fetched in each of so many weeks, where what is not spent is kept for eight of them."""
    saved = 0.0
    for number in range(1, weeks + 1):
        saved = min(saved, 8 * weekly) + weekly
        fetched = week(method, server, float(number), changed(number), saved, weekly=weekly)
        saved -= len(fetched)
        yield fetched


def site(pages: int) -> dict[str, list[str]]:
    return {"index.html": [f"p{n}" for n in range(pages)]} | {f"p{n}": [] for n in range(pages)}


def test_adaptive_follows_a_home_page_that_announces_news() -> None:
    """Pages that change with the home page are fetched in the very week once that is known, before others."""
    server, method = known(site(40)), Adaptive()
    news = {"index.html", "p0", "p1", "p2"}
    for number in range(1, 25):
        week(method, server, float(number), news if number % 2 else set(), 12.0)
    assert set(week(method, server, 25.0, news, 12.0)[:4]) == news


def test_adaptive_notices_a_burst_from_a_few_pages() -> None:
    """Where the first pages show that everything has changed the rest follows, else it does not."""
    server, method = known(site(60)), Adaptive()
    everything = set(site(60))
    for number in range(1, 13):
        week(method, server, float(number), everything if number % 4 == 0 else {"index.html"}, 40.0)
    assert week(method, server, 13.0, {"index.html"}, 40.0) and not server.stale  # what did not fit in before
    assert len(week(method, server, 14.0, {"index.html"}, 40.0)) < 20
    assert len(week(method, server, 16.0, everything, 61.0)) == 61


def test_adaptive_sees_every_page_in_the_end_even_where_nothing_ever_changes() -> None:
    """What is saved beyond eight weeks goes to the rest, however quiet the site is."""
    server, method = known(site(50)), Adaptive()
    fetched = saving(method, server, 40, 5.0, lambda number: set())
    assert set().union(*fetched) == set(site(50))


def test_adaptive_catches_up_with_a_burst_instead_of_saving_for_another() -> None:
    """What it knows to be stale is fetched at last, though the home page tells nothing any more."""
    server, method = known(site(60)), Adaptive()
    later: set[str] = set()

    def stale(number: int) -> set[str]:
        # What has changed in week 3 looks changed until it is fetched.
        return set(site(60)) - later if number >= 3 else set()

    for number, fetched in enumerate(saving(method, server, 20, 5.0, stale), 1):
        later |= set(fetched) if number >= 3 else set()
    assert len(later) > 55


def test_adaptive_saves_for_bursts_that_come_again_and_again() -> None:
    """Where every fourth week all changes, what is given is there when it does."""
    server, method = known(site(30)), Adaptive()
    weeks = saving(method, server, 32, 8.5, lambda number: set() if number % 4 else set(site(30)))
    counts = [len(fetched) for fetched in weeks]
    assert counts[7] == 31
    assert min(counts[7::4]) > 0.7 * 31


def test_the_top_page_takes_half_of_what_is_next_to_nothing() -> None:
    looked = {}
    half = {f"p{n}" for n in range(80) if n % 2}
    for weekly in (1.0, 20.0):
        server, method = known(site(80)), Adaptive()
        weeks = list(saving(method, server, 24, weekly, lambda number: half))
        looked[weekly] = sum("index.html" in fetched for fetched in weeks)
    assert looked[20.0] == 24 and looked[1.0] <= 13


@pytest.mark.parametrize("pages", [0, 1, 3, 7])
def test_the_top_page_of_a_small_site_is_looked_at_whenever_it_can_be(pages: int) -> None:
    """Also where it has not changed for long: it is what people watch."""
    server, method = known(site(pages)), Adaptive()
    weekly = 0.25 * (pages + 1)
    weeks = list(saving(method, server, 24, weekly, lambda number: set()))
    assert sum("index.html" in fetched for fetched in weeks) == min(24, 24 * weekly)


def test_adaptive_is_less_choosy_the_more_it_has_saved() -> None:
    """Where every page changes now and then, what cannot be kept any longer goes to what may have changed."""
    counts = []
    for saved in (0.0, 8.0):
        server, method = known(site(60)), Adaptive()
        for number in range(1, 13):
            now = {f"p{n}" for n in range(60) if (n + number) % 12 == 0}
            week(method, server, float(number), now, 6.0, weekly=6.0)
        counts.append(len(week(method, server, 13.0, set(), 6.0 + saved * 6, weekly=6.0)))
    assert counts[0] <= 6 and counts[1] > 24


def test_pages_that_are_probably_gone_ask_for_little_in_a_burst() -> None:
    """What the home page does not link to any more is no reason to save fetches."""
    demands = []
    for linked in (40, 10):
        server, method = known(site(40)), Adaptive()
        for number in range(1, 4):
            visit = OpenVisit(float(number), 12.0, 12.0)
            for path in ["index.html", *(f"p{n}" for n in range(9))]:
                links = [f"p{n}" for n in range(linked)] if path == "index.html" else []
                visit.outcomes[path] = server.fetched(path, changed=True, links=links, now=float(number))
            method.finish(server, visit)
        demands.append(causes_of(server).demands[-1])
    assert demands[0] > 30 and demands[1] < 20


@given(
    st.one_of(st.just(0.0), st.floats(0.01, 12)),
    st.lists(st.tuples(st.sets(st.sampled_from(sorted(ALL))), st.integers(0, 9)), max_size=6),
    st.sampled_from(sorted(METHODS)),
)
def test_no_method_fetches_a_page_twice_or_beyond_its_budget(
    weekly: float, weeks: list[tuple[set[str], int]], name: str
) -> None:
    server, method = known(FIGURE_4), make_method(name)
    for number, (changed, budget) in enumerate(weeks, 1):
        visit = OpenVisit(float(number), float(budget), weekly)
        fetched = visited(method, server, changed, visit)
        assert len(fetched) == len(set(fetched)) <= budget
        for path in fetched:
            server.fetched(path, path in changed, FIGURE_4[path], float(number))
        method.finish(server, visit)


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(ValueError, match="there is no method 'D'; the methods are A, B, C"):
        make_method("D")
