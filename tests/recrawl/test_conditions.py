"""Conditions under which a change is reported."""

from __future__ import annotations

from typing import Any

import pytest

from recrawl.comparing.conditions import Conditions, Prices
from recrawl.comparing.differences import difference

NO_PRICES = Prices()


def met(old: str, new: str, prices: Prices = NO_PRICES, **conditions: Any) -> bool:
    """Whether a change between two texts is reported."""
    before, after = old.splitlines(), new.splitlines()
    return Conditions(**conditions).met(difference(before, after), before, after, prices)


@pytest.mark.parametrize(
    ("old", "new", "conditions", "expected"),
    [
        ("a", "b", {}, True),
        ("a", "a\nb", {"direction": "added"}, True),
        ("a\nb", "a", {"direction": "added"}, False),
        ("a\nb", "a", {"direction": "removed"}, True),
        ("a\nb\nc", "c\na\nb", {"direction": "added"}, False),
        ("a\nb\nc", "c\na\nb", {"direction": "removed"}, False),
        ("a\nb", "b\na\na", {"direction": "added"}, True),
        ("hot\nb", "b\nhot", {"triggers": ("hot",), "direction": "added"}, False),
        ("a", "a\nb", {"direction": "removed"}, False),
        ("a", "a\nsold out", {"triggers": ("sold out",)}, True),
        ("a\nsold out", "a", {"triggers": ("sold out",)}, True),
        ("a\nsold out", "a", {"triggers": ("sold out",), "direction": "added"}, False),
        ("sold out\na", "sold out\nb", {"triggers": ("sold out",)}, False),
        ("x" * 99 + "\nb", "x" * 99 + "\nc", {"minimum_percent": 5}, False),
        ("x" * 99, "y" * 99, {"minimum_percent": 90}, True),
        ("costs 12", "costs 14", {"number_rule": "above", "number": 13}, True),
        ("costs 12", "costs 11", {"number_rule": "above", "number": 13}, False),
        ("costs 12", "costs 11", {"number_rule": "below", "number": 12}, True),
        ("costs 100", "costs 104", {"number_rule": "percent", "number": 5}, False),
        ("costs 100", "costs 106", {"number_rule": "percent", "number": 5}, True),
        ("costs 100", "costs 94", {"number_rule": "percent", "number": 5}, True),
        ("costs 100", "costs nothing", {"number_rule": "below", "number": 5}, False),
        ("costs 0", "costs 1", {"number_rule": "percent", "number": 5}, True),
        ("a 5", "b 5", {"number_rule": "percent", "number": 0}, False),
        ("1.699", "1.659", {"number_rule": "below", "number": 1.67, "is_data": True}, True),
        ("e10: 1.699", "e10: 1.679", {"number_rule": "below", "number": 1.67, "is_data": True}, False),
        ("items[].e10: 1.6", "items[].e10: 1.655", {"number_rule": "above", "number": 1000}, True),
    ],
)
def test_a_change_is_reported_if_all_conditions_are_met(
    old: str, new: str, conditions: dict[str, Any], expected: bool
) -> None:
    assert met(old, new, **conditions) is expected


def test_the_stated_price_goes_before_numbers_in_the_text() -> None:
    assert met("1", "2", Prices(10.0, 20.0), number_rule="above", number=15)
    assert not met("1", "20", Prices(10.0, 12.0), number_rule="above", number=15)


def test_an_expression_that_takes_for_ever_does_not_match() -> None:
    assert not met("b", "a" * 5000 + "b", triggers=("(a|aa)+$",))
