"""Steps that a browser performs on a page before it is read. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from crawler.text.reasons import Reason
from crawler.text.records import Record

MAX_STEPS = 20
MAX_SELECTOR_LENGTH, MAX_TEXT_LENGTH = 500, 2000
MAX_WAIT_SECONDS = 20.0

_FIELDS: Mapping[str, frozenset[str]] = {
    "click": frozenset({"at"}),
    "type": frozenset({"at", "text"}),
    "wait": frozenset({"seconds"}),
    "wait-for": frozenset({"at"}),
    "scroll": frozenset(),
}


class Step(Record, frozen=True):
    """One step: what to `do`, `at` which element (CSS), which `text` to type, how many `seconds` to wait."""

    do: str
    at: str = ""
    text: str = ""
    seconds: float = 0.0


def checked_steps(value: object) -> tuple[Step, ...]:
    """Return the steps that a list of dictionaries describes. Raises ValueError with a sentence."""
    if not isinstance(value, list | tuple):
        raise ValueError("Steps must be a list.")
    if len(value) > MAX_STEPS:
        raise ValueError(Reason("There are {0} steps; {1} are allowed.", len(value), MAX_STEPS))
    return tuple(_checked(number, item) for number, item in enumerate(value, start=1))


def _checked(number: int, item: object) -> Step:
    if not isinstance(item, dict):
        raise ValueError(f"Step {number} must be an object.")
    do = item.get("do")
    if not isinstance(do, str) or do not in _FIELDS:
        raise ValueError(f'Step {number} must have a "do" that is one of {", ".join(_FIELDS)}.')
    expected = _FIELDS[do] | {"do"}
    if missing := sorted(expected - item.keys()):
        raise ValueError(f'Step {number} ({do}) lacks "{missing[0]}".')
    # A misspelt field would be ignored without a word, and the step would do something else.
    if unknown := sorted(str(name) for name in item.keys() - expected):
        raise ValueError(f'Step {number} ({do}) must not have "{unknown[0][:50]}".')
    return Step(
        do,
        at=_checked_text(number, item, "at", MAX_SELECTOR_LENGTH).strip() if "at" in item else "",
        text=_checked_text(number, item, "text", MAX_TEXT_LENGTH) if "text" in item else "",
        seconds=_checked_seconds(number, item["seconds"]) if "seconds" in item else 0.0,
    )


def _checked_text(number: int, item: dict[str, object], name: str, max_length: int) -> str:
    text = item[name]
    # PostgreSQL stores no NUL in a text.
    if not isinstance(text, str) or len(text) > max_length or "\0" in text:
        raise ValueError(
            Reason('"{0}" of step {1} must be a text of at most {2} characters.', name, number, max_length)
        )
    if name == "at" and not text.strip():
        raise ValueError(Reason('"at" of step {0} must be a CSS selector.', number))
    return text


def _checked_seconds(number: int, seconds: object) -> float:
    # bool is an int to Python: {"seconds": true} would wait a second.
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 <= float(seconds) <= MAX_WAIT_SECONDS:  # type: ignore[arg-type]
        raise ValueError(
            Reason('"seconds" of step {0} must be a number from 0 to {1}.', number, f"{MAX_WAIT_SECONDS:g}")
        )
    return float(seconds)  # type: ignore[arg-type]
