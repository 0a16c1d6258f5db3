"""Requests whose form and address are UTF-8, whatever their Content-Type says, and that can always be made.

Django reads a charset out of the Content-Type before anything could catch what that raises, and takes any
codec of Python's for it: `charset=hex`, or `charset*=utf-8''%00`.
"""

from __future__ import annotations

from typing import Any

from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.utils.http import parse_header_parameters


class _Utf8:
    META: dict[str, Any]
    content_type: str | None
    content_params: dict[str, str] | None

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        """Note the media type and its parameters; none of them where they cannot be read."""
        given = meta.get("CONTENT_TYPE", "")
        try:
            self.content_type, self.content_params = parse_header_parameters(given)
        except (ValueError, LookupError):
            self.content_type, self.content_params = given.partition(";")[0].strip().lower(), {}
            meta["CONTENT_TYPE"] = self.content_type  # the parser of forms reads it again


class Utf8WSGIRequest(_Utf8, WSGIRequest):
    """A request as WSGI gives it."""


class Utf8ASGIRequest(_Utf8, ASGIRequest):
    """A request as ASGI gives it."""


class Utf8WSGIHandler(WSGIHandler):
    """Django's application for WSGI, with these requests."""

    request_class = Utf8WSGIRequest


class Utf8ASGIHandler(ASGIHandler):
    """Django's application for ASGI, with these requests."""

    request_class = Utf8ASGIRequest
