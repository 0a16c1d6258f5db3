"""Regular expressions of people are bounded over a whole page or batch, not for each text alone."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from crawler.frontier.scope import Scope, ScopeError
from crawler.reading.lines import CONTENT, Rules
from crawler.text.patterns import PatternAllowance, PatternError, compiled

EVIL = r"^(\w+\s?)*$"
LINES = ["word " * 12 + f"end {n}!" for n in range(400)]


def seconds_of(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


def test_a_page_of_many_lines_takes_no_longer_than_one_of_few() -> None:
    rules = Rules(patterns=(EVIL, EVIL + "x", r"^Visitors: \d+"))
    lines = [CONTENT + line for line in (*LINES, "Visitors: 12")]
    assert seconds_of(lambda: rules.counting(lines)) < 1.5
    assert "Visitors: 12" not in rules.counting(lines)  # the plain one still works
    assert seconds_of(lambda: [rules.counting(lines) for _ in range(20)]) < 1.5


def test_a_scope_takes_no_longer_for_many_addresses() -> None:
    scope = Scope([r"^https?://(a+)+\.example/$", r"^https://b\.example/"])
    addresses = [f"https://{'a' * 40}{n}.example/" for n in range(300)]
    assert seconds_of(lambda: [scope.allows(each) for each in addresses]) < 1.5
    assert scope.allows("https://b.example/1")


def test_expressions_that_are_each_a_little_slow_are_bounded_too() -> None:
    patterns = [compiled(rf"^(\w+\s?)*{n}$") for n in range(50)]
    allowance = PatternAllowance()
    assert seconds_of(lambda: [allowance.any_found(patterns, line[:40] + "!") for line in LINES]) < 2.5


def test_plain_expressions_are_never_left_out() -> None:
    allowance = PatternAllowance()
    patterns = [compiled(f"needle {n}$") for n in range(40)]
    for line in LINES * 5:
        assert not allowance.any_found(patterns, line)
    assert allowance.any_found(patterns, "needle 39")


@pytest.mark.parametrize(
    "expression",
    ["(" * 499 + ")" * 499, "(?:a|" * 190 + ")" * 190, "[", "a{99999999999}", "x" * 1001],
)
def test_what_cannot_be_compiled_is_said(expression: str) -> None:
    with pytest.raises(PatternError):
        compiled(expression)
    with pytest.raises(ScopeError):
        Scope([expression])
