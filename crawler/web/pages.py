"""Helpers of pages: partial responses for htmx, and redirects after forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme


def program(request: HttpRequest) -> dict[str, str | bool]:
    """Return the name of the program that runs commands, and whether people may ask a language model.

    A context processor.
    """
    return {"program": settings.PROGRAM, "has_model": bool(settings.MODEL_URL) and not settings.DEMO}


def wants_part(request: HttpRequest) -> bool:
    """Return whether htmx asks for the changing part of a page. Going back in history asks for all of it."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers


def render_list(request: HttpRequest, whole: str, part: str, context: Mapping[str, Any]) -> HttpResponse:
    """Render a list's page, or for htmx its rows alone, whose address then shows only the filters set."""
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
    """Return the address on this site where a form wants to go on, else `otherwise`."""
    target = request.POST.get("next", "")
    here = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if here else otherwise


def moved(view: Callable[..., HttpResponse], name: str) -> Callable[..., HttpResponse]:
    """Return a view for a page's former address: it leads to the present one, and still takes its forms."""

    def former(request: HttpRequest) -> HttpResponse:
        if request.method == "POST":
            return view(request)
        query = request.META.get("QUERY_STRING", "")
        return HttpResponseRedirect(f"{reverse(name)}?{query}" if query else reverse(name))

    return former
