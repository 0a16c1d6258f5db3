"""What the API reads from bodies: bounded in bytes and depth, and nothing that could never be stored."""

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

MOST_DEPTH = 32
"""Lists and objects within one another; the API takes three."""


class TooLarge(APIException):
    """413."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The request is too large."
    default_code = "too_large"


class JSONParser(parsers.JSONParser):
    """JSON in UTF-8 (RFC 8259), whatever charset the request names."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """The value. Raises ParseError or TooLarge."""
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
    """Fields as browsers send them."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """The fields. Raises ParseError or TooLarge."""
        try:
            fields = QueryDict(_read(stream), encoding="utf-8")
        except SuspiciousOperation as error:
            raise ParseError("Form parse error - too many fields") from error
        _check_fields(fields)
        return fields


class MultiPartParser(parsers.MultiPartParser):
    """Fields and files."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """The fields and files. Raises ParseError or TooLarge."""
        context = {**(parser_context or {}), "encoding": "utf-8"}
        try:
            found = super().parse(stream, media_type, context)
        except RequestDataTooBig as error:
            raise TooLarge from error
        except (SuspiciousOperation, ValueError) as error:
            raise ParseError("Multipart form parse error - not understood, or too many fields") from error
        _check_fields(found.data)
        for _, files in found.files.lists():
            for file in files:
                _check(str(getattr(file, "name", "")))
        return found


def _read(stream: Any) -> bytes:
    most: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    body: bytes = stream.read(most + 1)
    if len(body) > most:
        raise TooLarge
    return body


def _texts(value: Any) -> Iterator[str]:
    """Every string of a JSON value, names included. Raises ParseError for what is nested too deeply."""
    waiting = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list | dict):
            if depth >= MOST_DEPTH:
                raise ParseError("JSON parse error - nested too deeply")
            if isinstance(one, dict):
                yield from one
                one = one.values()
            waiting.extend((each, depth + 1) for each in one)


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
