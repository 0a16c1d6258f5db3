"""Numbers in texts, with the separators of either custom, and numbers that a program wrote. Pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import islice

_MAX_NUMBERS = 50
_SIGNS = "€$£¥￥＄￡₹₽₩₺₴₪฿₫₱₦₡₲₸₾₿¢"
_NUMBER = re.compile(
    r"""
    (?P<whole>
      (?![0٠۰０])\d{1,3}                                                                    # 1.234.567
      (?P<mark>[.,'’ʼ´٬，\u00a0\u202f\u2009\ ]) \d{3} (?:(?P=mark)\d{3})* (?!\d)
      | [1-9]\d? (?:,\d{2})+ ,\d{3} (?!\d)                                                  # 1,29,900
      | \d+
      | (?<![\w.,)]) (?=[.,]\d)                                                             # ,89
    )
    (?: [.,٫．] (?P<decimals>\d+) | € (?P<cents>\d{2}) (?!\d) )?
    """,
    re.VERBOSE,
)
_CODES = (
    "EUR|USD|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|UAH|RUB|ILS|BRL|MXN|ZAR"
    "|KRW|SGD|VND|IDR|PHP|MYR|TWD|ARS|CLP|COP|HKD|THB|AED|SAR|EGP"
    "|Kč|zł|Ft|kr|Fr|Rs|TL|lei|лв|грн|руб|Euro|ر\\.س|د\\.إ|ج\\.م|ريال|ریال|درهم|جنيه|تومان"
)
_CURRENCY_BEFORE = re.compile(rf"(?P<currency>[{_SIGNS}]|\b(?:{_CODES})\.?)\s?[-−]?\Z")
_CURRENCY_BEHIND = re.compile(
    rf"(?:[.,]?[-–—]{{1,2}})?\s?(?P<currency>[{_SIGNS}円元원]|[A-Z]{{1,2}}\$(?!\d)|(?:{_CODES})\b)"
)
_MACHINE = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[Ee][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount with its currency as a text writes it: "€" or "EUR", before the number or behind it."""

    number: float
    currency: str
    is_before: bool = False


def money_in(text: str) -> Money | None:
    """Return the first number beside a currency in a text. Returns None without one.

    Of a range of prices it is the lower one.
    """
    numbers = list(islice(_NUMBER.finditer(text), _MAX_NUMBERS))
    for number, match in enumerate(numbers):
        if not _is_priced(text, match):
            continue
        before = _CURRENCY_BEFORE.search(text[max(0, match.start() - 8) : match.start()])
        behind = _CURRENCY_BEHIND.match(text, match.end())
        currency = "€" if match["cents"] else (before or behind or {"currency": ""})["currency"]
        previous = numbers[number - 1] if number else match
        is_range = text[previous.end() : match.start()].strip() in {"-", "–", "—", "−"}
        value = _value(text, previous if is_range else match)
        if value is not None:
            is_before = not match["cents"] and before is not None
            return Money(value, currency.rstrip("."), is_before)
    return None


def number_in(text: str) -> float | None:
    """Return the first number beside a currency sign, else the first one in a text; None without one.

    A number at the end of a name (`product_v2`) counts if there is no other.
    `1.234,56` and `1,234.56` are one number; a single comma or point followed by exactly three digits
    separates thousands if there are one to three digits before it, of which the first is not 0. Of a range
    of prices it is the lower one.
    """
    numbers = list(islice(_NUMBER.finditer(text), _MAX_NUMBERS))
    for number, match in enumerate(numbers):
        if _is_priced(text, match):
            before = numbers[number - 1] if number else match
            is_range = text[before.end() : match.start()].strip() in {"-", "–", "—", "−"}
            return _value(text, before if is_range else match)
    numbers.sort(key=lambda match: _ends_name(text, match))
    return _value(text, numbers[0]) if numbers else None


def machine_number(value: object) -> float | None:
    """Return a number as a program states it: with a decimal point, however many decimals follow.

    A text in any other form (`1.299,00 €`) is read as people write.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _finite(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    return _finite(text) if _MACHINE.fullmatch(text) else number_in(text[:1_000])


def _is_priced(text: str, match: re.Match[str]) -> bool:
    if match["cents"] or _CURRENCY_BEHIND.match(text, match.end()):
        return True
    return _CURRENCY_BEFORE.search(text[max(0, match.start() - 8) : match.start()]) is not None


def _ends_name(text: str, match: re.Match[str]) -> bool:
    return match.start() > 0 and (text[match.start() - 1] == "_" or text[match.start() - 1].isalpha())


def _value(text: str, match: re.Match[str]) -> float | None:
    whole = re.sub(r"\D", "", match["whole"])
    value = _finite(f"{whole or 0}.{match['decimals'] or match['cents'] or 0}")
    before = text[max(0, match.start() - 2) : match.start()]
    is_negative = before.endswith(("-", "−")) and not before[:-1].isalnum()
    return -value if value is not None and is_negative else value


def _finite(number: float | str) -> float | None:
    try:
        value = float(number)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None
