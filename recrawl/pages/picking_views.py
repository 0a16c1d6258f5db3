"""Choosing a part of a page by clicking on a copy of it, which stands in a frame without any rights."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from crawler.fetching.http.client import ACCEPT_PAGE
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.fetching.sandboxed import client
from crawler.fetching.sandboxed.client import FetchLimits
from crawler.isolation.calls import ProgramError
from crawler.web.permissions import needs
from crawler.web.roles import EDITOR
from crawler.web.sentences import translated
from feeds.phrases import failure_words
from recrawl.pages.copy_program import COPY

FETCH_SECONDS, READ_SECONDS = 15.0, 10.0
MAX_BYTES = 10_000_000

client.programs.add_module("recrawl.pages.copy_program")


@needs(EDITOR)
@require_safe
def pick(request: HttpRequest) -> HttpResponse:
    """Show the copy of the page `url` in a frame, and what was chosen in it beside it."""
    context = {
        "address": request.GET.get("url", "").strip()[:2000],
        "chosen": request.GET.get("part", "")[:500],
        "for_list": request.GET.get("for") == "list",
    }
    return render(request, "recrawl/pick.html", context)


@needs(EDITOR)
@require_safe
@xframe_options_sameorigin
def copy(request: HttpRequest) -> HttpResponse:
    """Return a copy of the page `url` with our script that tells the page around it what was clicked.

    Its policy gives it an origin of its own and forbids every request: nothing of it reaches anything.
    """
    try:
        content = copy_of(canonical_url(request.GET.get("url", "")))
    except BadUrl as error:
        content = _problem(f"{capfirst(translated(error.reason))}.")
    except ProgramError as error:
        content = _problem(f"{capfirst(failure_words(error.kind, None, datetime.now(UTC)))}.")
    nonce = secrets.token_urlsafe(16)
    script = f'<script nonce="{nonce}">{_script()}</script>'
    response = HttpResponse(f"<!doctype html>{content}{script}")
    response.headers["Content-Security-Policy"] = (
        f"sandbox allow-scripts; default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; "
        "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
    )
    response.headers["Cache-Control"] = "private, no-store"
    return response


def copy_of(url: str) -> str:
    """Fetch a page and return its copy, HTML without scripts. Raises ProgramError."""
    fetched = client.fetch(url, FetchLimits(ACCEPT_PAGE, FETCH_SECONDS, MAX_BYTES))
    request = {"name": COPY, "content_type": fetched.content_type}
    return client.programs.call(
        COPY, request, fetched.body, seconds=READ_SECONDS, max_bytes=MAX_BYTES
    ).decode("utf-8", "replace")


def _problem(sentence: str) -> str:
    advice = _("You can write the part by hand instead.")
    return f"<p>{escape(sentence)}</p><p>{escape(advice)}</p>"


@cache
def _script() -> str:
    path = finders.find("freshet/pick-frame.js")
    return Path(str(path)).read_text("utf-8")
