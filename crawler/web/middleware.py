"""Middleware that every request passes first, and every response last."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.translation import gettext as _

from crawler.database.readers import read_for
from crawler.text.characters import unstorable
from crawler.web.refusals import refusal
from crawler.web.syndication.answer import takes_gzip

Handler = Callable[[HttpRequest], HttpResponse]
log = logging.getLogger(__name__)

MAX_BYTES = 64 * 1024 * 1024
"""Of any body: an OPML file or trace with room to spare. What reads bodies has smaller bounds of its own."""

PACKED_TYPES = ("image/webp", "image/png", "font/", "application/gzip", "application/zip", "application/warc")
"""Beginnings of media types whose documents are compressed already."""
_FORMS = {"application/x-www-form-urlencoded", "multipart/form-data"}
_UTF8 = {"", "utf-8", "utf8", "us-ascii", "ascii"}
_DATA_EXCEPTION, _LIMIT_EXCEEDED = "22", "54000"
"""PostgreSQL's words for values that do not fit: out of range, not of their type; too long for an index."""


def content_security_policy(get_response: Handler) -> Handler:
    """Set the Content-Security-Policy of responses: own scripts and styles, nothing inline, no frames.

    Adds the header where the view set none of its own.
    """
    policy = "; ".join(" ".join(directive) for directive in settings.CONTENT_SECURITY_POLICY.items())

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy)
        return response

    return middleware


def reader(get_response: Handler) -> Handler:
    """Let feeds and articles of other people stay unseen while a request is answered."""

    def middleware(request: HttpRequest) -> HttpResponse:
        # The API finds out later, by the token, who asks.
        read_for(lambda: request.user.pk if request.user.is_authenticated else None)
        return get_response(request)

    return middleware


class OnlyStorable:
    """Middleware that refuses (400) zero bytes and lone surrogates anywhere, which cannot be stored.

    It checks the address, the headers and the cookies of every request, and the fields of forms that Django
    reads. The parsers of the API (crawler.web.parsers) and of Google Reader's check what they read. Values
    that the database then refuses, such as a number out of range, are answered with 400 as well.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Handle the request, or refuse it."""
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not (length.isascii() and length.isdecimal() and len(length) < 18):
            return refusal(request, _("Content-Length is no number."))
        if int(length) > max(MAX_BYTES, settings.FETCH_MAX_BYTES):
            return refusal(request, _("The request is too large."), 413)
        for place, text in _texts(request):
            if fault := unstorable(text):
                return refusal(
                    request, _("There is %(fault)s in %(place)s.") % {"fault": _(fault), "place": place}
                )
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], arguments: Any, keywords: Any
    ) -> HttpResponse | None:
        """Check the form before the view runs; views without CSRF protection read bodies themselves."""
        if request.method != "POST" or getattr(view, "csrf_exempt", False):
            return None
        charset = (request.content_params or {}).get("charset", "").lower()
        if request.content_type in _FORMS and charset not in _UTF8:
            return refusal(request, _("Forms are read as UTF-8."), 415)
        try:
            fields = [(name, str(value)) for name, values in request.POST.lists() for value in values]
            fields += [(name, str(file.name)) for name, files in request.FILES.lists() for file in files]
        except RequestDataTooBig:
            return refusal(request, _("The form is too large."), 413)
        except (SuspiciousOperation, BadRequest, MultiPartParserError, UnreadablePostError, ValueError):
            return refusal(request, _("The form was not understood, or has too many fields."))
        for field in fields:
            for text in field:
                if fault := unstorable(text):
                    return refusal(
                        request, _("There is %(fault)s in a field of the form.") % {"fault": _(fault)}
                    )
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return 400 for a value that the database refused, None for other errors."""
        if not isinstance(exception, DatabaseError) or not _is_unfit(exception.__cause__):
            return None
        words = str(exception).strip().partition("\n")[0]
        log.warning("%s: the database refused a value: %s", ascii(request.path[:200]), ascii(words[:300]))
        return refusal(request, _("A value is out of range, too long, or not of its kind."))


def _texts(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Yield the texts of a request outside its body, each with the name of its place."""
    yield _("the address"), request.path
    query = request.META.get("QUERY_STRING", "")
    yield _("the address"), "\0" if "%00" in query else query
    for name, value in request.META.items():
        if name.startswith(("HTTP_", "CONTENT_")) and isinstance(value, str):
            yield _("a header"), value
    for name, value in request.COOKIES.items():
        yield _("a cookie"), name
        yield _("a cookie"), value


def _is_unfit(cause: BaseException | None) -> bool:
    if not isinstance(cause, psycopg.Error):
        return False
    state = cause.sqlstate or ""
    # psycopg itself refuses zero bytes without asking the server.
    return (
        state.startswith(_DATA_EXCEPTION)
        or state == _LIMIT_EXCEEDED
        or (not state and isinstance(cause, psycopg.DataError))
    )


class ClosedPages(LoginRequiredMiddleware):
    """Middleware that leads strangers to the sign-in, and asks nobody who they are where a page is open.

    Django's own reads the session first, which takes a database that open pages may answer without.
    """

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., Any], view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        """Return the way to the sign-in for strangers, None for an open page and for who is signed in."""
        if not getattr(view_func, "login_required", True):
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)


class Compressed(GZipMiddleware):
    """Compress answers for those who take gzip, with a head of random length against BREACH."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Return the response, compressed if the request allows it and if that makes it smaller."""
        is_packed = response.headers.get("Content-Type", "").startswith(PACKED_TYPES)
        return (
            response if is_packed or not takes_gzip(request) else super().process_response(request, response)
        )
