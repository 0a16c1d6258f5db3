"""Responses that refuse a request: JSON below /api/, text or a page elsewhere."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.views import defaults
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler

API = "/api/"
GOOGLE_READER = "/api/greader.php"


def refusal(request: HttpRequest, words: str, status: int = 400) -> HttpResponse:
    """Return a response that gives the reason, in the API's format for programs."""
    if _speaks_json(request):
        response: HttpResponse = JsonResponse({"detail": words}, status=status)
    else:
        response = HttpResponse(f"{words}\n", "text/plain; charset=utf-8", status=status)
    response.headers["Cache-Control"] = "private, no-store"
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 400 for requests that Django refuses (too many fields, a host not allowed), 413 for too much."""
    if isinstance(exception, RequestDataTooBig):
        return refusal(request, "The request is too large.", 413)
    return refusal(request, "The request was not understood.")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 403."""
    if _speaks_json(request):
        return refusal(request, "You do not have permission to do this.", 403)
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return 404, as a sentence where the request's form cannot be read: the page looks for a token in it."""
    if _speaks_json(request):
        return refusal(request, "Not found.", 404)
    try:
        return defaults.page_not_found(request, exception)
    except (SuspiciousOperation, BadRequest, RequestDataTooBig, MultiPartParserError, UnreadablePostError):
        return refusal(request, "Not found.", 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 500."""
    return (
        refusal(request, "The server failed.", 500)
        if _speaks_json(request)
        else defaults.server_error(request)
    )


def api_refusal(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the API's response to an exception of its views: a JSON object, whatever was requested."""
    response = exception_handler(error, context)
    request = context["request"]
    request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
    if response is not None and isinstance(response.data, list):
        response.data = {"detail": " ".join(map(str, response.data))}
    return response


def _speaks_json(request: HttpRequest) -> bool:
    return request.path.startswith(API) and not request.path.startswith(GOOGLE_READER)
