"""JSON-LD as pages write it, faults and all: one reader for prices, metadata and the pipeline. Pure.

Shops fill templates by hand: raw line breaks in strings, comments, wrappers of XHTML, a comma too many,
character references, several objects in a row. Whatever is sound is read as it is.
"""

from __future__ import annotations

import html as markup
import json
import re
from itertools import islice
from typing import Any

import pyjson5
from lxml import html

MAX_BLOCKS = 50
MAX_SIGNS = 2_000_000
MAX_SCRIPT_SIGNS = 200_000
_MAX_ROW = 1_000
"""Objects in a row that are read."""

_STRING = r'"(?:[^"\\]++|\\.)*+"?'
_NOISE = re.compile(
    rf"(?P<string>{_STRING})|<!--(?:(?!-->)[^{{}}\[\]<])*+-->|<!--|-->|<!\[CDATA\[|\]\]>|/\*.*?(?:\*/|\Z)"
    r"|//(?:(?!<!\[CDATA\[|\]\]>|<!--|-->)[^\n])*+",
    re.DOTALL,
)
_COMMA_TOO_MANY = re.compile(rf"(?P<string>{_STRING})|,(?=\s*+[,}}\]])", re.DOTALL)
_ESCAPE = re.compile(r'\\(?:(?P<known>["\\/bfnrt]|u[0-9A-Fa-f]{4})|x(?P<script>[0-9A-Fa-f]{2})|)')
_BETWEEN = re.compile(r"[\s,;\ufeff]*")
_END = re.compile(r"[\s,;}\])]*")
_DECODER = json.JSONDecoder(strict=False)


def is_json_ld(kind: str) -> bool:
    """Return whether a script of this type holds JSON-LD."""
    return kind.partition(";")[0].strip().lower() == "application/ld+json"


def json_ld_of(root: html.HtmlElement) -> list[Any]:
    """Return the values of a page's JSON-LD scripts; damaged ones are left out."""
    values = []
    scripts = (element for element in root.iter("script") if is_json_ld(element.get("type") or ""))
    for script in islice(scripts, MAX_BLOCKS):
        try:
            values.append(read_json_ld(script.text or ""))
        except (ValueError, RecursionError):
            continue
    return values


def read_json_ld(text: str) -> Any:
    """Return the value of a block, a list of several in a row. Raises ValueError and RecursionError."""
    if len(text) > MAX_SIGNS:
        raise ValueError(f"more than {MAX_SIGNS} characters")
    try:
        # strict=False: raw line breaks in strings (extruct 84).
        return json.loads(text, strict=False)
    except ValueError:
        repaired = _repaired(text)
    try:
        return _values_in_row(repaired)
    except ValueError:
        return _as_script(repaired)


def _as_script(text: str) -> Any:
    """Return a value written as in a script, with names or single quotes where JSON wants double ones."""
    if len(text) > MAX_SCRIPT_SIGNS:
        raise ValueError("this is no JSON-LD")
    try:
        return pyjson5.decode(text.strip().rstrip(";"), maxdepth=100)
    except pyjson5.Json5Exception as error:
        raise ValueError("this is no JSON-LD") from error


def _repaired(text: str) -> str:
    """Return the text without what JSON does not know; each step goes through it once."""
    # Escaped as a whole, with &quot; for each quote; unescaping others would break their strings.
    if '"' not in text:
        text = markup.unescape(text)
    text = _NOISE.sub(lambda match: _string(match["string"]) if match["string"] else " ", text)
    return _COMMA_TOO_MANY.sub(lambda match: match["string"] or "", text)


def _string(text: str) -> str:
    """Return a string with JSON's escapes alone: none before an apostrophe, `\\u002b` for `\\x2b`."""
    return _ESCAPE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return match[0] if match["known"] else rf"\u00{match['script']}" if match["script"] else ""


def _values_in_row(text: str) -> Any:
    values: list[Any] = []
    at = _skipped(_BETWEEN, text, 0)
    # Several objects in a row without a list around them, as plugins add theirs.
    while text[at : at + 1] in ("{", "[") and len(values) < _MAX_ROW:
        value, at = _DECODER.raw_decode(text, at)
        values.append(value)
        at = _skipped(_BETWEEN, text, at)
    if not values or _skipped(_END, text, at) < len(text):
        raise ValueError("this is no JSON-LD")
    return values[0] if len(values) == 1 else values


def _skipped(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
