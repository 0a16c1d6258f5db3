"""Requests decoded as UTF-8 whatever their Content-Type says, which can always be constructed.

Django reads a charset out of the Content-Type before anything could catch what that raises, and takes any
codec of Python's for it: `charset=hex`, or `charset*=utf-8''%00`.
"""

from __future__ import annotations

from typing import Any

from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.utils.http import parse_header_parameters

ARRIVED = "freshet.arrived"
"""In the environment of WSGI: when the web server had the whole request (time.monotonic), if it says so."""


class _Utf8:
    META: dict[str, Any]
    content_type: str | None
    content_params: dict[str, str] | None

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        """Set the media type and its parameters. Unreadable parameters are dropped."""
        content_type = meta.get("CONTENT_TYPE", "")
        try:
            self.content_type, self.content_params = parse_header_parameters(content_type)
        except (ValueError, LookupError):
            self.content_type, self.content_params = content_type.partition(";")[0].strip().lower(), {}
            meta["CONTENT_TYPE"] = self.content_type  # the parser of forms reads it again


class Utf8WSGIRequest(_Utf8, WSGIRequest):
    """A WSGI request decoded as UTF-8."""


class Utf8ASGIRequest(_Utf8, ASGIRequest):
    """An ASGI request decoded as UTF-8."""


class Utf8WSGIHandler(WSGIHandler):
    """Django's application for WSGI, with UTF-8 requests."""

    request_class = Utf8WSGIRequest


class Utf8ASGIHandler(ASGIHandler):
    """Django's application for ASGI, with UTF-8 requests."""

    request_class = Utf8ASGIRequest
