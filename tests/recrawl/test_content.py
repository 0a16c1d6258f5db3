"""Lines of a page: what is content, what counts, and what hostile pages cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from crawler.reading.limits import LIMITS
from crawler.reading.lines import (
    Rules,
    SelectorFault,
    packed,
    read_lines,
    template_of,
    unpacked,
    usable_selector,
)
from recrawl.comparing.differences import compared

PAGE = """<html><head><title>News of the {town}</title><style>p {{}}</style></head><body>
<nav><a href="/">Home</a><a href="/all">All</a></nav><div id="ad">Buy {ad} now</div>
<main><h1>Ferry</h1><p>The ferry <b>runs</b> again<br>from {day}.</p>
<table><tr><td>fare</td><td>{fare}</td></tr></table></main>
<div class="meta">Page built {built}, request {nonce}</div><script>var a = {fare};</script>
<footer>Visitors: {count}</footer></body></html>"""
VALUES = {
    "town": "Marsh", "ad": "oars", "day": "Monday", "fare": "3", "built": "2026-01-02", "nonce": "a81f",
    "count": 7,
}  # fmt: skip


def lines(selectors: tuple[str, ...] = (), **changes: object) -> list[str]:
    return read_lines(html.document_fromstring(PAGE.format(**{**VALUES, **changes})), selectors)


def test_lines_follow_blocks_and_carry_their_marks() -> None:
    assert lines(("#ad",)) == [
        " News of the Marsh", "~HomeAll", "-Buy oars now", " Ferry", " The ferry runs again",
        " from Monday.", " fare 3", " Page built 2026-01-02, request a81f", "~Visitors: 7",
    ]  # fmt: skip


def test_what_stands_in_the_template_does_not_count() -> None:
    template = template_of(lines(town=town, fare=town) for town in "ABCDEF")
    rules = Rules(template)
    for changes in ({"built": "2027-09-09"}, {"nonce": "77b0"}, {"count": 123_456}):
        gain, counts = compared(lines(), lines(**changes), rules)
        assert not counts
        assert gain.lines_added, changes  # it stays on record
    gain, counts = compared(lines(), lines(fare="4"), rules)
    assert counts
    assert (gain.lines_removed, gain.lines_added) == (["fare 3"], ["fare 4"])


def test_rules_of_people_leave_out_elements_lines_and_small_changes() -> None:
    assert compared(lines(), lines(ad="sails"), Rules())[1]
    assert not compared(lines(("#ad",)), lines(("#ad",), ad="sails"), Rules())[1]
    assert not compared(lines(), lines(ad="sails"), Rules(patterns=("^Buy ",)))[1]
    assert not compared(lines(), lines(fare="4"), Rules(least=13))[1]
    assert compared(lines(), lines(fare="4"), Rules(least=12))[1]


def test_a_page_of_nothing_but_boilerplate_is_compared_as_a_whole() -> None:
    old, new = ["~Home", "~All"], ["~Home", "~More"]
    assert compared(old, new, Rules())[1]


def test_few_pages_have_no_template() -> None:
    assert template_of([lines()] * 4) == frozenset()


@pytest.mark.parametrize("selector", ["p[", "a:no-such", "p >", "x" * 600, ""])
def test_what_is_no_selector_is_refused_by_name(selector: str) -> None:
    with pytest.raises(SelectorFault):
        usable_selector(selector)


def test_deep_and_large_pages_are_read_within_bounds() -> None:
    deep = html.document_fromstring("<div>" * 250 + "word" + "</div>" * 250)
    assert read_lines(deep) == [" word"]
    large = html.document_fromstring("<p>" + "</p><p>".join(["lorem ipsum dolor"] * 100_000) + "</p>")
    assert sum(map(len, read_lines(large))) <= LIMITS.text + 100
    flat = html.document_fromstring("<body>" + "<i>x</i>" * 30_000 + "</body>")
    assert read_lines(flat, ["i ~ i"])[0].startswith(" x")  # too large for selectors: nothing is ignored


@given(st.lists(st.text(st.characters(blacklist_characters="\n", blacklist_categories=["Cs"]), min_size=1)))
def test_lines_come_back_as_they_were_packed(given_lines: list[str]) -> None:
    assert unpacked(packed(given_lines)) == given_lines


def test_damaged_lines_are_told() -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpacked(b"no zlib")


def test_a_page_of_one_endless_line_is_cut_and_can_be_unpacked() -> None:
    page = html.document_fromstring(f"<p>{'w' * 9_000_000}</p><p>last</p>")
    found = read_lines(page)
    assert unpacked(packed(found)) == found
    assert [len(line) for line in found] == [LIMITS.text + 1]
