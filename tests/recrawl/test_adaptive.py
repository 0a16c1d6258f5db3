"""The method of shared causes: what it believes, what it keeps, and what it fetches."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from recrawl.methods.adaptive import (
    ANSWER,
    FIRST_ODDS,
    LEVELS,
    SPREAD,
    Adaptive,
    Causes,
    Run,
    causes_of,
)
from recrawl.methods.adaptive import _needed as needed
from recrawl.visiting.known_server import KnownServer, OpenVisit

SECTIONS, PAGES = 4, 12


def site() -> KnownServer:
    """A top page that links to an index of each section, which links to the pages of it."""
    server = KnownServer("/")
    server.store("/", [f"/{section}/" for section in range(SECTIONS)], 0.0)
    for section in range(SECTIONS):
        pages = [f"/{section}/{page}" for page in range(PAGES)]
        server.store(f"/{section}/", pages, 0.0)
        for page in pages:
            server.store(page, ["/"], 0.0)
    return server


def visit_site(
    server: KnownServer, week: int, changed: set[str], stale: set[str], *, weekly: float, saved: float
) -> OpenVisit:
    """Make one visit; pages in `changed` are stale from now on. Returns it after its end."""
    method, stale_pages = Adaptive(), stale
    stale_pages |= changed
    visit = OpenVisit(float(week), math.floor(saved), weekly)
    while visit.budget >= 1 and (pages := method.following(server, visit)):
        for path in pages[: int(visit.budget)]:
            assert path not in visit.outcomes
            visit.budget -= 1
            links = server.pages[path].links
            visit.outcomes[path] = server.fetched(path, path in stale_pages, links, visit.now)
            stale_pages.discard(path)
    method.finish(server, visit)
    return visit


def habits(seed: int, weeks: int = 40) -> list[set[str]]:
    """Which pages change in each week: sections as a whole now and then, with their index and the top."""
    dice = random.Random(seed)
    changes = []
    for _ in range(weeks):
        changed: set[str] = set()
        for section in range(SECTIONS):
            if dice.random() < 0.12:
                changed |= {"/", f"/{section}/", *(f"/{section}/{page}" for page in range(PAGES))}
            elif dice.random() < 0.2:
                changed.add(f"/{section}/{dice.randrange(PAGES)}")
        changes.append(changed)
    return changes


def fetches(seed: int = 1, *, repacked: bool = False) -> list[list[str]]:
    server, stale, saved, made = site(), set[str](), 0.0, []
    for week, changed in enumerate(habits(seed), 1):
        saved = min(saved, 48) + 6
        if repacked:
            server.memory["adaptive"] = Causes.unpacked(causes_of(server).packed())
        visit = visit_site(server, week, changed, stale, weekly=6.0, saved=saved)
        saved -= len(visit.outcomes)
        made.append(list(visit.outcomes))
    return made


def test_beliefs_are_probabilities_whatever_is_fetched() -> None:
    dice, server = random.Random(3), site()
    for week in range(1, 40):
        visit = OpenVisit(float(week), 30, 10.0)
        for path in dice.sample(sorted(server.pages), 15):
            links = server.pages[path].links
            visit.outcomes[path] = server.fetched(path, dice.random() < 0.4, links, visit.now)
            belief = Run(server, visit).belief()
            for values in (belief.sound, belief.change_odds, belief.own_odds):
                assert ((values >= 0) & (values <= 1)).all()
            assert np.allclose(belief.levels.sum(axis=1), 1)
        Adaptive().finish(server, visit)
        for past in causes_of(server).weeks:
            assert np.allclose(past.levels.sum(axis=1), 1)


def test_the_same_changes_give_the_same_fetches() -> None:
    assert fetches() == fetches()


def test_what_is_kept_leads_to_the_same_decisions() -> None:
    assert fetches(repacked=True) == fetches()


@pytest.mark.parametrize("packed", [b"", b"x", b"x\x9c\x03\x00", Causes().packed()[:-3]])
def test_what_cannot_be_unpacked_is_as_nothing(packed: bytes) -> None:
    assert Causes.unpacked(packed) == Causes()


def test_the_first_belief_is_that_of_the_formulas() -> None:
    server = site()
    visit = OpenVisit(1.0, 10, 10.0)
    visit.outcomes["/"] = server.fetched("/", True, server.pages["/"].links, 1.0)
    belief = Run(server, visit).belief()
    index = Run(server, visit).gates.number["/1/"]
    behind = FIRST_ODDS[6] * float(SPREAD @ LEVELS[1:])
    assert belief.expected[belief.group[index]] == pytest.approx(behind, rel=1e-6)
    own = (1 / 2) ** 0.01  # one week behind a prior of one week, at 0.2 changes in 20 weeks
    assert belief.change_odds[index] == pytest.approx(1 - own * (1 - ANSWER * behind), rel=0.02)
    assert belief.sound[index] == 1


def test_a_burst_behind_a_changed_top_page_is_found_in_its_week() -> None:
    server, stale = site(), set[str]()
    everything = set(server.pages)
    for week in range(1, 6):
        visit_site(server, week, set(), stale, weekly=20.0, saved=180)
    visit = visit_site(server, 6, everything, stale, weekly=20.0, saved=180)
    assert len(visit.outcomes) >= 0.9 * len(everything)


def test_finds_behind_an_unchanged_top_page_raise_the_doubt_of_their_section() -> None:
    server = site()
    for week in range(1, 4):
        visit_site(server, week, set(), set(), weekly=0.0, saved=0)
    visit = OpenVisit(4.0, 30, 10.0)
    page = "/2/11"
    before = Run(server, visit).belief()
    number = Run(server, visit).gates.number
    for place in range(3):
        path = f"/2/{place}"
        visit.outcomes[path] = server.fetched(path, True, server.pages[path].links, 4.0)
    after = Run(server, visit).belief()
    stale = [1 - belief.sound * (1 - belief.change_odds) for belief in (before, after)]
    assert stale[1][number[page]] > 3 * stale[0][number[page]]
    assert stale[1][number[page]] > stale[1][number["/3/11"]]


def test_a_site_that_never_changes_costs_the_top_page_and_what_cannot_be_saved() -> None:
    server, saved, fetched = site(), 0.0, 0
    for week in range(1, 60):
        saved = min(saved, 8 * 6.0) + 6
        visit = visit_site(server, week, set(), set(), weekly=6.0, saved=saved)
        saved -= len(visit.outcomes)
        fetched += len(visit.outcomes) if week > 20 else 0
    assert fetched < 39 * 6 * 1.05


def test_fetches_are_needed_less_the_more_is_saved() -> None:
    values = [needed([2.0, 9.0], left, 5.0, 40.0) for left in (0, 10, 20, 40, 45)]
    assert values == sorted(values, reverse=True)
    assert all(0 < value < 1 for value in values)


def test_without_a_budget_every_page_is_offered_once() -> None:
    server = site()
    visit = OpenVisit(1.0)
    assert Adaptive().following(server, visit) == ["/"]
    visit.outcomes["/"] = server.fetched("/", False, server.pages["/"].links, 1.0)
    offered = Adaptive().following(server, visit)
    assert sorted(offered) == sorted(set(server.pages) - {"/"})


def test_a_visit_may_be_resumed_at_any_time() -> None:
    """The fetches so far decide, whatever was reckoned on the way."""
    rounds: list[list[str]] = []
    for resumed in (False, True):
        server = site()
        for week in range(1, 4):
            visit_site(server, week, {"/", "/1/", "/1/3"}, set(), weekly=9.0, saved=30)
        visit = OpenVisit(4.0, 30, 9.0)
        while pages := Adaptive().following(server, visit):
            if resumed:
                server.memory["adaptive"] = Causes.unpacked(causes_of(server).packed())
            rounds.append(pages)
            for path in pages:
                visit.outcomes[path] = server.fetched(path, path < "/2", server.pages[path].links, 4.0)
                visit.budget -= 1
    half = len(rounds) // 2
    assert rounds[:half] == rounds[half:]
    assert half > 2


def test_a_reliable_source_moves_the_odds_and_an_unreliable_one_loses_them() -> None:
    page, moved = "/2/5", {}
    for is_right in (True, False):
        server = site()
        odds = []
        for week in range(1, 8):
            visit = OpenVisit(float(week), 30, 10.0, signals={"sitemap": {page: True, "/2/6": False}})
            run = Run(server, visit)
            odds.append(float(run.belief().change_odds[run.gates.number[page]]))
            for path in (page, "/2/6"):
                changed = is_right and path == page
                visit.outcomes[path] = server.fetched(path, changed, server.pages[path].links, visit.now)
            Adaptive().finish(server, visit)
        moved[is_right] = odds
    assert moved[True][0] == moved[False][0] > 0.2
    assert moved[True][-1] > 0.9
    assert moved[False][-1] < 0.1


def test_what_is_kept_grows_no_further_than_a_year() -> None:
    server = site()
    for week in range(1, 120):
        visit_site(server, week, set(), set(), weekly=0.5, saved=1)
    kept = causes_of(server)
    assert len(kept.weeks) <= 52
    assert len(kept.demands) == 52
    assert len(kept.packed()) < 5000
