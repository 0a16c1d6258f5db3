"""Sentences with arguments, which are worded in a language where they are shown.

    Reason("No feed is visited twice within {0}.", Reason("{0} minutes", 10))

`make messages` gathers the sentences for translators, as those of `gettext_noop`.
"""

from __future__ import annotations

import json
from typing import Any, Self

Argument = str | int | float
_OPENING = '["'


class Reason(str):
    """An English sentence that keeps what it is made of.

    `code` is the sentence with {0}, {1} in the places of `arguments`, some of which may be reasons. The text
    itself is English, for logs and programs; `crawler.web.sentences.translated` words it for people.
    """

    code: str
    arguments: tuple[Argument, ...]

    def __new__(cls, code: str, *arguments: object) -> Self:
        reason = super().__new__(cls, code.format(*arguments))
        reason.code = code
        reason.arguments = tuple(e if isinstance(e, str | int | float) else str(e) for e in arguments)
        return reason

    def __str__(self) -> str:
        """Return the reason itself, so that `str` of an exception that was raised with one is one, too."""
        return self

    def __reduce__(self) -> tuple[type[Reason], tuple[Any, ...]]:
        return Reason, (self.code, *self.arguments)


def packed(text: str) -> str:
    """Return the form of a reason in a row or a message: JSON. A text without arguments stays as it is."""
    return json.dumps(_listed(text), ensure_ascii=False) if isinstance(text, Reason) else text


def unpacked(text: str) -> str:
    """Return the reason that `packed` made the text of, and any other text as it is."""
    if not text.startswith(_OPENING):
        return text
    try:
        return _reason(json.loads(text))
    except (ValueError, TypeError, LookupError, AttributeError):
        return text


def code_and_arguments(text: str) -> dict[str, Any] | None:
    """Return a reason for programs: {"code": sentence, "arguments": [...]}; None for no text."""
    if not text:
        return None
    code, *arguments = _listed(text) if isinstance(text, Reason) else [text]
    return {"code": code, "arguments": arguments}


def _listed(reason: Reason) -> list[Any]:
    return [reason.code, *(_listed(each) if isinstance(each, Reason) else each for each in reason.arguments)]


def _reason(parts: list[Any]) -> Reason:
    code, *arguments = parts
    return Reason(code, *(_reason(each) if isinstance(each, list) else each for each in arguments))
