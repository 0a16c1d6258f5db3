"""Parsers of the API's request bodies, bounded in bytes and depth, which refuse what cannot be stored."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import QueryDict
from rest_framework import parsers, status
from rest_framework.exceptions import APIException, ParseError

from crawler.text.characters import unstorable

MAX_DEPTH = 32
"""Lists and objects within one another; the API takes three."""


class TooLarge(APIException):
    """The error 413 for a body that is too large."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The request is too large."
    default_code = "too_large"


class JSONParser(parsers.JSONParser):
    """A parser of JSON in UTF-8 (RFC 8259), whatever charset the request names."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Parse the body. Raises ParseError or TooLarge."""
        body = _read(stream)
        try:
            value = json.loads(body.decode(), parse_constant=_no_number, parse_float=_finite)
        except RecursionError as error:
            raise ParseError("JSON parse error - nested too deeply") from error
        except ValueError as error:  # UnicodeDecodeError, and numbers of thousands of digits
            raise ParseError(f"JSON parse error - {str(error)[:200]}") from error
        for text in _texts(value):
            _check(text)
        return value


class FormParser(parsers.FormParser):
    """A parser of form fields as browsers send them."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Parse the fields. Raises ParseError or TooLarge."""
        try:
            fields = QueryDict(_read(stream), encoding="utf-8")
        except SuspiciousOperation as error:
            raise ParseError("Form parse error - too many fields") from error
        _check_fields(fields)
        return fields


class MultiPartParser(parsers.MultiPartParser):
    """A parser of fields and files."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Parse the fields and files. Raises ParseError or TooLarge."""
        context = {**(parser_context or {}), "encoding": "utf-8"}
        try:
            parsed = super().parse(stream, media_type, context)
        except RequestDataTooBig as error:
            raise TooLarge from error
        except (SuspiciousOperation, ValueError) as error:
            raise ParseError("Multipart form parse error - not understood, or too many fields") from error
        _check_fields(parsed.data)
        for _, files in parsed.files.lists():
            for file in files:
                _check(str(getattr(file, "name", "")))
        return parsed


def _read(stream: Any) -> bytes:
    max_bytes: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    body: bytes = stream.read(max_bytes + 1)
    if len(body) > max_bytes:
        raise TooLarge
    return body


def _texts(value: Any) -> Iterator[str]:
    """Yield every string of a JSON value, names included. Raises ParseError for too deep nesting."""
    waiting = [(value, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | dict):
            if depth >= MAX_DEPTH:
                raise ParseError("JSON parse error - nested too deeply")
            if isinstance(value, dict):
                yield from value
                value = value.values()
            waiting.extend((each, depth + 1) for each in value)


def _check(text: str) -> None:
    if fault := unstorable(text):
        raise ParseError(f"There is {fault} in it.")


def _check_fields(fields: QueryDict) -> None:
    for name, values in fields.lists():
        for text in (name, *values):
            _check(str(text))


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")
