"""Numbers in texts, with the separators of either custom. Pure."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\d[\d.,'\u00a0\u202f ]*")


def number_in(text: str) -> float | None:
    """Return the first number in a text, with either separator of decimals; None without one.

    `1.234,56` and `1,234.56` are one number; a single comma or point followed by exactly three digits
    separates thousands if there are one to three digits before it.
    """
    match = _NUMBER.search(text)
    if match is None:
        return None
    sign = -1.0 if text[: match.start()].endswith(("-", "−")) else 1.0
    digits = re.sub(r"['\u00a0\u202f ]", "", match.group()).rstrip(".,")
    last = max(digits.rfind("."), digits.rfind(","))
    if last >= 0:
        mark, decimals = digits[last], len(digits) - last - 1
        other_mark = "," if mark == "." else "."
        is_grouped = digits.count(mark) > 1 or (decimals == 3 and last <= 3 and other_mark not in digits)
        digits = digits.replace(other_mark, "")
        digits = digits.replace(mark, "") if is_grouped else digits.replace(mark, ".")
    try:
        return sign * float(digits[:40])
    except ValueError:
        return None
