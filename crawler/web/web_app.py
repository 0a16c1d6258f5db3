"""The manifest and the service worker of the installable web app."""

from __future__ import annotations

import hashlib

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import get_script_prefix
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

FILES = (
    "freshet/tokens.css",
    "freshet/app.css",
    "freshet/app.js",
    "freshet/logo.svg",
    "vendor/htmx/htmx.min.js",
    "freshet/fonts/source-serif-4-latin-wght-normal.woff2",
)
"""Files of the page that is shown without a network."""


@login_not_required
@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    """Answer with the manifest."""
    response = render(
        request, "app/manifest.json", {"root": get_script_prefix()}, "application/manifest+json"
    )
    patch_cache_control(response, max_age=3600)
    return response


@login_not_required
@require_safe
def worker(request: HttpRequest) -> HttpResponse:
    """Answer with the service worker, whose version follows from the names of the files that it keeps."""
    version = hashlib.blake2b(" ".join(map(static, FILES)).encode(), digest_size=6).hexdigest()
    context = {"files": FILES, "version": version, "root": get_script_prefix()}
    response = render(request, "app/worker.js", context, content_type="text/javascript")
    patch_cache_control(response, no_cache=True)
    return response
