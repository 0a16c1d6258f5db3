"""Differences tell exactly what came and what went."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recrawl.comparing.differences import CONTEXT, MAX_LINES, Difference, difference

LINES = st.lists(st.sampled_from("abcde"), max_size=30)


def applied(old: list[str], gain: Difference) -> list[str]:
    """The new lines, from the old ones and the hunks: each is looked for behind the one before."""
    new: list[str] = []
    place = 0
    for hunk in gain.hunks:
        before = [row[1] for row in hunk if row[0] != "added"]
        after = [row[2] for row in hunk if row[0] != "removed"]
        at = next(at for at in range(place, len(old) + 1) if old[at : at + len(before)] == before)
        new += old[place:at] + after
        place = at + len(before)
    return new + old[place:]


@given(LINES, LINES)
def test_old_lines_and_hunks_make_as_many_new_lines(old: list[str], new: list[str]) -> None:
    gain = difference(old, new)
    assert len(old) - gain.removed + gain.added == len(new)
    assert gain.removed == len(gain.lines_removed)
    assert gain.added == len(gain.lines_added)
    assert (gain.hunks == ()) == (old == new)


@given(st.lists(st.integers(), unique=True, max_size=40), st.data())
def test_applied_to_the_old_lines_it_gives_the_new_ones(numbers: list[int], data: st.DataObject) -> None:
    old = [f"line {number}" for number in numbers]
    new = [line for line in old if data.draw(st.booleans())]
    for at in data.draw(st.lists(st.integers(0, len(new)), max_size=5)):
        new.insert(at, f"new {at} {len(new)}")
    assert applied(old, difference(old, new)) == new


@given(LINES, LINES)
def test_it_comes_back_as_it_was_packed(old: list[str], new: list[str]) -> None:
    gain = difference(old, new)
    assert Difference.unpacked(gain.packed()) == gain


def test_a_change_in_a_long_page_is_told_with_the_lines_around_it() -> None:
    old = [f"line {number}" for number in range(100)]
    new = [*old[:50], "another", *old[51:]]
    (hunk,) = difference(old, new).hunks
    assert [kind for kind, _, _ in hunk] == ["same"] * CONTEXT + ["edited"] + ["same"] * CONTEXT


def test_endless_pages_cost_little_and_what_is_cut_is_counted() -> None:
    old, new = [f"a{i}" for i in range(20_000)], [f"b{i}" for i in range(20_000)]
    gain = difference(old, new)
    assert sum(map(len, gain.hunks)) == MAX_LINES
    assert gain.cut == 16_000
    assert (gain.removed, gain.added) == (20_000, 20_000)
