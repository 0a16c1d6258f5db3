"""What pages share: the parts of them that htmx swaps, and where forms go on to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx asks for the changing part of a page (going back in history asks for all of it)."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers


def render_list(request: HttpRequest, whole: str, part: str, context: Mapping[str, Any]) -> HttpResponse:
    """A list's page, or for htmx its rows alone; the address then shows only the filters that are set."""
    if not wants_part(request):
        response = render(request, whole, dict(context))
    else:
        response = render(request, part, dict(context))
        query = request.GET.copy()
        for name in [name for name, values in query.lists() if not any(values)]:
            del query[name]
        response.headers["HX-Push-Url"] = f"{request.path}?{query.urlencode()}" if query else request.path
    patch_vary_headers(response, ["HX-Request"])
    return response


def safe_next(request: HttpRequest, otherwise: str) -> str:
    """Where a form wants to go on, if that is here; else `otherwise`."""
    wanted = request.POST.get("next", "")
    here = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if here else otherwise
