"""Gates by number are those of division B by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.division import by_links, groups_above
from recrawl.methods import gates as module
from recrawl.methods.gates import gates_of
from tests.recrawl.test_division import FIGURE_4, PATHS, graph


def by_name(links: dict[str, list[str]]) -> dict[str, set[str]]:
    """The definition: tops of a page's sites, for a top those of the sites above."""
    drawn = graph(links)
    sites = by_links(drawn)
    found: dict[str, set[str]] = {page: set() for page in links}
    for site, over in zip(sites, groups_above(drawn, sites), strict=True):
        for member in site.members:
            found[member].update(site.tops)
        for top in site.tops:
            found[top].update(one for number in over for one in sites[number].tops)
    return {page: tops - {page} for page, tops in found.items()}


@given(st.dictionaries(PATHS, st.lists(PATHS, max_size=6), min_size=1))
def test_they_are_what_the_division_says(links: dict[str, list[str]]) -> None:
    gates, expected = gates_of(graph(links)), by_name(links)
    assert gates.paths == list(links)
    assert {path: set(gates.of(path)) for path in links} == expected
    assert gates.count.tolist() == [len(expected[path]) for path in links]
    assert gates.behind.tolist() == [sum(path in tops for tops in expected.values()) for path in links]


def test_they_are_the_same_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = gates_of(graph(FIGURE_4))
    monkeypatch.setattr(module, "_MAX_BYTES", 1)
    pieces = gates_of(graph(FIGURE_4))
    assert np.array_equal(whole.pages, pieces.pages)
    assert np.array_equal(whole.tops, pieces.tops)


def test_chosen_gates_are_counted() -> None:
    gates = gates_of(graph(FIGURE_4))
    assert gates.of("d/E") == ["d/D"]
    opened = np.array([path in {"a/A", "d/D"} for path in gates.paths])
    assert dict(zip(gates.paths, gates.count_of(opened).tolist(), strict=True)) == {
        "a/A": 0, "a/B": 1, "a/C": 1, "d/D": 1, "d/E": 1, "d/F": 0, "g/G": 1, "g/H": 0,
    }  # fmt: skip
    assert gates.numbers(["g/H", "nowhere"]) == [gates.number["g/H"]]


def test_a_server_without_pages_has_none() -> None:
    gates = gates_of(graph({}, "A"))
    assert (gates.paths, gates.pages.size, gates.behind.size) == ([], 0, 0)
