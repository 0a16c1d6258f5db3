"""The value of a watched part: a price, a number, an availability, or else its first line. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crawler.text.numbers import Money, money_in, number_in

PRICE, NUMBER, AVAILABILITY, TEXT = "price", "number", "availability", "text"
"""The kinds of a value."""
MAX_LINES, MAX_LINE, MAX_TEXT = 40, 200, 80
MAX_NUMBER_LINE, MAX_NUMBER_WORDS = 40, 4
"""A line is a number if it is so short: prose in which a number stands is none."""
SIGNS = {
    "EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "INR": "₹", "KRW": "₩", "TRY": "₺", "UAH": "₴",
    "ILS": "₪",
}  # fmt: skip
_BEFORE = frozenset("$£¥₹₩")
_SOLD_OUT = re.compile(
    r"out of stock|sold out|(?:not|no longer|currently un|un)\s?available|out of print|discontinued"
    r"|ausverkauft|vergriffen|(?:nicht|nicht mehr) (?:lieferbar|verfügbar|auf lager|vorrätig)"
    r"|rupture de stock|épuisé|indisponible|non disponible"
    r"|agotad[oa]|sin (?:stock|existencias)|no disponible|esaurito|uitverkocht"
    r"|在庫切れ|在庫なし|売り切れ|品切れ",
    re.IGNORECASE,
)
_IN_STOCK = re.compile(
    r"in stock|\bavailable\b|\b\d+ left\b|auf lager|\blieferbar\b|\bverfügbar\b|\bvorrätig\b"
    r"|en stock|\bdisponible\b|disponibile|op voorraad|på lager|i lager|在庫あり|在庫有",
    re.IGNORECASE,
)
_SCHEMA_IN_STOCK = frozenset({"instock", "instoreonly", "onlineonly", "limitedavailability"})


@dataclass(frozen=True, slots=True)
class Value:
    """The reading of a watched part: its kind, its words, and the number or availability in them.

    `available` is None where nothing is said of it.
    """

    kind: str
    text: str
    number: float | None = None
    money: Money | None = None
    available: bool | None = None


def availability_in(text: str) -> bool | None:
    """Return whether a text says that something is in stock, or sold out. Returns None if it says neither."""
    # First, because "not available" holds "available".
    if _SOLD_OUT.search(text):
        return False
    return True if _IN_STOCK.search(text) else None


def value_in(lines: Sequence[str]) -> Value:
    """Return the value of the lines of a watched part: the first price, availability, number or line."""
    short = [line.strip() for line in lines[:MAX_LINES] if line.strip() and len(line) <= MAX_LINE]
    available = next((state for line in short if (state := availability_in(line)) is not None), None)
    # A price before a stock: shops write both into one part, and the price is watched more often.
    for line in short:
        if money := money_in(line):
            return Value(PRICE, money_text(money), money.number, money, available)
    for line in short:
        if availability_in(line) is not None:
            return Value(AVAILABILITY, line[:MAX_TEXT], None, None, available)
    for line in short:
        number = number_in(line) if _is_number(line) else None
        if number is not None:
            return Value(NUMBER, line, number)
    return first_line(lines)


def stated_value(price: float | None, currency: str, availability: str) -> Value | None:
    """Return the value of an offer that a page states for programs. Returns None without a price."""
    if price is None:
        return None
    sign = SIGNS.get(currency.upper(), currency)
    money = Money(price, sign, sign in _BEFORE)
    available = availability in _SCHEMA_IN_STOCK if availability else None
    return Value(PRICE, money_text(money), price, money, available)


def first_line(lines: Sequence[str]) -> Value:
    """Return the first line of a text as its value."""
    line = next((line.strip() for line in lines if line.strip()), "")
    return Value(TEXT, line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1].rstrip()}…")


def money_text(money: Money, number: float | None = None) -> str:
    """Write an amount, or another number of its currency, with decimals only where it has some."""
    amount = money.number if number is None else number
    digits = f"{amount:,.0f}" if float(amount).is_integer() else f"{amount:,.2f}"
    digits = digits.replace(",", "\N{NARROW NO-BREAK SPACE}")
    if not money.currency:
        return digits
    if not money.is_before:
        return f"{digits}\N{NO-BREAK SPACE}{money.currency}"
    gap = "" if money.currency in _BEFORE else "\N{NO-BREAK SPACE}"
    return f"{money.currency}{gap}{digits}"


def crosses(condition: str, bound: float | None, old: Value | None, new: Value) -> bool:
    """Return whether a change of values meets a condition of a rule: once, as it begins to be met.

    "below" and "above" compare with `bound`, "falls" with the value before, "available" tells of a return.
    """
    if condition in {"below", "above"}:
        return _is_met(condition, bound, new) and not (old and _is_met(condition, bound, old))
    if condition == "falls":
        before = old.number if old else None
        return before is not None and new.number is not None and new.number < before
    if condition == "available":
        return new.available is True and not (old and old.available is True)
    return True


def _is_met(condition: str, bound: float | None, value: Value) -> bool:
    if bound is None or value.number is None:
        return False
    return value.number < bound if condition == "below" else value.number > bound


def _is_number(line: str) -> bool:
    return len(line) <= MAX_NUMBER_LINE and len(line.split()) <= MAX_NUMBER_WORDS
