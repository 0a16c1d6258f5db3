"""Responses that refuse a request: JSON below /api/, text or a page elsewhere."""

from __future__ import annotations

import logging
import secrets
import sys
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import defaults
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler

from crawler.text.words import Words

log = logging.getLogger(__name__)

API = "/api/"
GOOGLE_READER = "/api/greader.php"

_HEADINGS = {
    400: gettext_lazy("That was not understood"),
    403: gettext_lazy("Not allowed"),
    404: gettext_lazy("Nothing is here"),
    413: gettext_lazy("That is too large"),
    429: gettext_lazy("Too many requests"),
    500: gettext_lazy("Something broke here, not with you"),
    503: gettext_lazy("Not just now"),
}
_BROKEN = gettext_lazy(
    "Nothing you have read, starred or written is lost. Try once more; if it stays, tell the person who runs"
    " this Freshet the number below."
)
_AWAY = gettext_lazy("Freshet's database does not answer. Nothing is lost; try once more in a minute.")


def refusal(request: HttpRequest, words: Words, status: int = 400, *, number: str = "") -> HttpResponse:
    """Return a response that gives the reason: JSON for programs, a page for browsers, else text.

    The page needs no database. `number` is what the log calls the failure by.
    """
    if _speaks_json(request):
        response: HttpResponse = JsonResponse({"detail": words}, status=status)
    elif "text/html" in request.headers.get("Accept", "") and "HX-Request" not in request.headers:
        context = {
            "heading": _HEADINGS.get(status, _("That did not work")),
            "words": words,
            "number": number,
            "now": datetime.now(UTC),
            "retry": request.get_full_path() if request.method == "GET" and status >= 500 else "",
        }
        response = HttpResponse(render_to_string("refusal.html", context), status=status)
    else:
        response = HttpResponse(f"{words}\n", "text/plain; charset=utf-8", status=status)
    response.headers["Cache-Control"] = "private, no-store"
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 400 for requests that Django refuses (too many fields, a host not allowed), 413 for too much."""
    if isinstance(exception, RequestDataTooBig):
        return refusal(request, gettext_lazy("The request is too large."), 413)
    return refusal(request, gettext_lazy("The request was not understood."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 403."""
    if _speaks_json(request):
        return refusal(request, _("You do not have permission to do this."), 403)
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 404, as a sentence where the request's form cannot be read: the page looks for a token in it."""
    if _speaks_json(request):
        return refusal(request, _("Not found."), 404)
    try:
        return defaults.page_not_found(request, exception)
    except (SuspiciousOperation, BadRequest, RequestDataTooBig, MultiPartParserError, UnreadablePostError):
        return refusal(request, _("Not found."), 404)


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Return 429, for those who ask for more than their share of what is limited."""
    return refusal(request, _("You have tried this too often. Wait a few minutes and try once more."), 429)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 500 with the number under which the log has it, or 503 while the database is away."""
    if isinstance(sys.exc_info()[1], OperationalError) and not _answers():
        return refusal(request, _AWAY, 503)
    number = secrets.token_hex(4)
    log.error("Failure %s: %s %s", number, request.method, request.path)
    words: Words = "The server failed." if _speaks_json(request) else _BROKEN
    return refusal(request, words, 500, number=number)


def api_refusal(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the API's response to an exception of its views: a JSON object, whatever was requested."""
    response = exception_handler(error, context)
    request = context["request"]
    request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
    if response is not None and isinstance(response.data, list):
        response.data = {"detail": " ".join(map(str, response.data))}
    return response


def _speaks_json(request: HttpRequest) -> bool:
    return request.path_info.startswith(API) and not request.path_info.startswith(GOOGLE_READER)


def _answers() -> bool:
    """Return whether the database still answers on this thread's connection."""
    return connection.connection is not None and connection.is_usable()
