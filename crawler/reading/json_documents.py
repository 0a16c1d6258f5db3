"""JSON as servers send it: whole, line by line, in a call (JSONP) or a variable, behind a guard; and what is
chosen of it. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import orjson

_EXACT = 2**53
_MARK = "\ue000integer "
_LONG_NUMBER = re.compile(r"\d{19}")
_GUARD = re.compile(r"\s*(?:\)\]\}'?,?|while\s*\(1\);|for\s*\(;;\);)\s*")
"""What keeps other sites from running JSON as a script."""
_CALL = re.compile(r"(?:/\*\*/)?[\w$.]{1,200}\(")
_SET = re.compile(r"(?:(?:var|let|const)\s+)?[A-Za-z_$][\w$.]{0,200}\s*=\s*(?=[\[{])")
"""What makes a script of JSON that it keeps in a variable."""
MAX_DOCUMENTS = 5_000
"""Lines of JSON that are read of one text: for each of them a program of jq is run."""


def json_documents(text: str) -> list[Any]:
    """Return the JSON documents of a text: one, or one on each line. Raises ValueError when it has none."""
    try:
        return [_parsed(text)]
    except ValueError as error:
        bare = text[guard.end() :] if (guard := _GUARD.match(text)) else text
        bare = bare.strip().removesuffix(";").rstrip()
        if (call := _CALL.match(bare)) and bare.endswith(")"):
            bare = bare[call.end() : -1]
        elif assigned := _SET.match(bare):
            bare = bare[assigned.end() :]
        if not text.strip():
            raise
        for candidates in ([bare], _lines(text)):
            try:
                return [_parsed(candidate) for candidate in candidates]
            except ValueError:
                continue
        raise error


def _lines(text: str) -> list[str]:
    return list(islice((line for line in text.split("\n") if line.strip()), MAX_DOCUMENTS))


def _parsed(text: str) -> Any:
    """Parse JSON with all digits of its integers: orjson makes those of more than 64 bits inexact.

    Python's parser takes what orjson refuses and many servers send: halves of surrogate pairs, NaN, line ends
    in strings.
    """
    try:
        document = orjson.loads(text)
    except ValueError:
        return _lenient(text)
    return _lenient(text) if _LONG_NUMBER.search(text) else document


def _lenient(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def by_jsonpath(expression: str, documents: Sequence[Any]) -> Iterable[Any]:
    """Return what an expression of JSONPath finds in the documents."""
    import jsonpath  # noqa: PLC0415 - loaded with the first document that needs it

    return [value for document in documents for value in jsonpath.findall(expression, document)]


def by_jq(expression: str, documents: Sequence[Any]) -> Iterable[Any]:
    """Return what a program of jq gives for the documents, without the nulls that stand for nothing there."""
    return [value for document in documents for value in _by_jq(expression, document)]


def _by_jq(expression: str, document: Any) -> list[Any]:
    values = _exact_answers(expression, document)
    if None not in values:
        return values
    try:
        paths = _answers(f"path({expression})", document)
    except ValueError:  # the program computes
        paths = []
    if len(paths) != len(values):
        paths = [None] * len(values)
    return [
        value
        for value, path in zip(values, paths, strict=True)
        if value is not None or (path is not None and _has(document, path))
    ]


def _exact_answers(expression: str, document: Any) -> list[Any]:
    """Return what jq answers, with all digits of integers of which it keeps 53 bits.

    It is asked a second time with such integers as texts, and believed where it says the same.
    """
    values = _answers(expression, document)
    marked = _with_marks(document)
    if marked == document:
        return values
    try:
        exact = [_without_marks(value) for value in _answers(expression, marked)]
    except ValueError:  # the program calculates with them
        return values
    return exact if _rounded(exact) == _rounded(values) else values


def _with_marks(value: Any) -> Any:
    is_long = isinstance(value, int) and abs(value) > _EXACT
    return f"{_MARK}{value}" if is_long else _mapped(_with_marks, value)


def _without_marks(value: Any) -> Any:
    is_marked = isinstance(value, str) and value.startswith(_MARK)
    return int(value[len(_MARK) :]) if is_marked else _mapped(_without_marks, value)


def _rounded(value: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_number else _mapped(_rounded, value)


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: function(member) for key, member in value.items()}
    return [function(member) for member in value] if isinstance(value, list) else value


def _answers(expression: str, document: Any) -> list[Any]:
    """Return what jq answers."""
    program = _program(expression).input_text(json.dumps(document))
    return [json.loads(line) for line in program.text().split("\n") if line]


@lru_cache(maxsize=4)
def _program(expression: str) -> Any:
    import jq  # noqa: PLC0415 - loaded with the first document that needs it

    return jq.compile(expression)


def _has(document: Any, path: Sequence[Any]) -> bool:
    """Return whether there is something at a path of keys and places, be it null."""
    for key in path:
        try:
            document = document[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True
