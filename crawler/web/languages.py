"""The language of pages: the one that the reader chose, else one of the browser's, else English."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

MAX_AGE_SECONDS = 365 * 86_400
PROGRAMS = (
    "/static/", "/api/", "/reader/", "/accounts/ClientLogin", "/fever/", "/personal/", "/sites/feed/",
    "/websub/", "/healthz", "/metrics", "/img/",
)  # fmt: skip
"""Beginnings of addresses that programs read: their answers are English for everybody."""


def reader_language(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Show pages in the reader's language, as middleware."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(PROGRAMS):
            with translation.override(settings.LANGUAGE_CODE):
                return get_response(request)
        with translation.override(translation.get_language_from_request(request)):
            request.LANGUAGE_CODE = translation.get_language()
            response = get_response(request)
            remember_choices(request, response, getattr(request, "choices_to_remember", {}))
            response.headers.setdefault("Content-Language", translation.get_language() or "")
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        return response

    return middleware


def browser_language(request: HttpRequest) -> str:
    """Return the language that the browser asks for, whatever was chosen."""
    asking = HttpRequest()
    asking.META = request.META
    return translation.get_language_from_request(asking)


def remember_choices(request: HttpRequest, response: HttpResponse, choices: Mapping[str, str]) -> None:
    """Note choices in cookies, by the cookies' names; an empty one leaves the choice to the browser again."""
    for name, value in choices.items():
        if value:
            response.set_cookie(
                name, value, MAX_AGE_SECONDS, secure=request.is_secure(), httponly=True, samesite="Lax"
            )
        elif name in request.COOKIES:
            response.delete_cookie(name, samesite="Lax")
