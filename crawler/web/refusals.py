"""How a request is refused, as its place does it: in JSON below /api/, else as text or a page."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import defaults
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler

API = "/api/"
GOOGLE_READER = "/api/greader.php"


def refusal(request: HttpRequest, words: str, status: int = 400) -> HttpResponse:
    """An answer that says why, for programs as the API's own refusals are."""
    if _speaks_json(request):
        answer: HttpResponse = JsonResponse({"detail": words}, status=status)
    else:
        answer = HttpResponse(f"{words}\n", "text/plain; charset=utf-8", status=status)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, for what Django itself refuses: too many fields, a host that is not allowed; 413 for too much."""
    if isinstance(exception, RequestDataTooBig):
        return refusal(request, "The request is too large.", 413)
    return refusal(request, "The request was not understood.")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403."""
    if _speaks_json(request):
        return refusal(request, "You do not have permission to do this.", 403)
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404."""
    return (
        refusal(request, "Not found.", 404)
        if _speaks_json(request)
        else defaults.page_not_found(request, exception)
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500."""
    return (
        refusal(request, "The server failed.", 500)
        if _speaks_json(request)
        else defaults.server_error(request)
    )


def api_refusal(error: Exception, context: dict[str, Any]) -> Response | None:
    """What the API answers for an exception of its views: an object in JSON, whatever was asked for."""
    response = exception_handler(error, context)
    request = context["request"]
    request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
    if response is not None and isinstance(response.data, list):
        response.data = {"detail": " ".join(map(str, response.data))}
    return response


def _speaks_json(request: HttpRequest) -> bool:
    return request.path.startswith(API) and not request.path.startswith(GOOGLE_READER)
