"""The value of a watched part: prices, numbers and availability in texts."""

from __future__ import annotations

import pytest

from crawler.text.numbers import Money, money_in
from recrawl.comparing.values import Value, availability_in, crosses, money_text, stated_value, value_in


@pytest.mark.parametrize(
    ("text", "number", "currency", "is_before"),
    [
        ("239 €", 239.0, "€", False),
        ("1.299,00 €", 1299.0, "€", False),
        ("$1,299.00", 1299.0, "$", True),
        ("£ 12", 12.0, "£", True),
        ("1 299 kr", 1299.0, "kr", False),
        ("CHF 49.90", 49.9, "CHF", True),
        ("nur 12€50", 12.5, "€", False),
        ("from 10 – 20 €", 10.0, "€", False),
        ("2 lamps, 19,95 EUR", 19.95, "EUR", False),
        ("2 lamps, 1 875 C$", 1875.0, "C$", False),
        ("Size 5 A$9.99", 9.99, "$", True),
        ("２個 １，９８０円", 1980.0, "円", False),
        ("١٬٢٩٩٫٥٠ ريال", 1299.5, "ريال", False),
        ("0,899 €", 0.899, "€", False),
    ],
)
def test_a_price_is_read_with_its_currency(text: str, number: float, currency: str, is_before: bool) -> None:
    assert money_in(text) == Money(number, currency, is_before)
    assert value_in([text]).kind == "price"


@pytest.mark.parametrize("text", ["", "No price here", "12 in stock", "Chapter 3"])
def test_a_text_without_a_currency_has_no_price(text: str) -> None:
    assert money_in(text) is None


def test_a_price_is_written_with_decimals_only_where_it_has_some() -> None:
    assert money_text(Money(239.0, "€")) == "239\u00a0€"
    assert money_text(Money(1299.5, "$", is_before=True)) == "$1\u202f299.50"
    assert money_text(Money(12.0, "CHF", is_before=True)) == "CHF\u00a012"
    assert money_text(Money(239.0, "€"), 10.0) == "10\u00a0€"


@pytest.mark.parametrize(
    ("text", "available"),
    [
        ("In stock, delivered in 3 days", True),
        ("12 left", True),
        ("Out of stock", False),
        ("Currently unavailable", False),
        ("Nicht lieferbar", False),
        ("Auf Lager", True),
        ("Épuisé", False),
        ("在庫あり", True),
        ("A lamp of oak", None),
    ],
)
def test_availability_is_read(text: str, available: bool | None) -> None:
    assert availability_in(text) is available


def test_a_part_has_the_value_that_says_most() -> None:
    assert value_in(["Bergen desk lamp", "239 €", "In stock"]).available is True
    assert value_in(["Bergen desk lamp", "Sold out"]) == Value("availability", "Sold out", available=False)
    assert value_in(["Stars: 1,234"]).number == 1234
    assert value_in(["Opened in 1984 by the mayor of the town"]).kind == "text"
    assert value_in([]).text == ""
    assert len(value_in(["word " * 60]).text) <= 80


def test_a_stated_offer_has_a_value() -> None:
    value = stated_value(239.0, "EUR", "instock")
    assert value is not None
    assert (value.text, value.available) == ("239\u00a0€", True)
    assert stated_value(None, "", "instock") is None


def priced(number: float) -> Value:
    return Value("price", str(number), number)


def test_a_bound_is_crossed_once() -> None:
    assert crosses("below", 230, priced(239), priced(229))
    assert not crosses("below", 230, priced(229), priced(225))
    assert not crosses("below", 230, priced(225), priced(239))
    assert not crosses("below", 230, priced(239), priced(230))
    assert crosses("below", 230, None, priced(1))
    assert not crosses("below", 230, priced(239), Value("text", "gone"))
    assert crosses("above", 230, priced(229), priced(231))
    assert crosses("falls", None, priced(239), priced(238))
    assert not crosses("falls", None, priced(239), priced(240))
    sold, there = Value("text", "", available=False), Value("text", "", available=True)
    assert crosses("available", None, sold, there)
    assert not crosses("available", None, there, there)
    assert crosses("", None, priced(1), priced(2))
