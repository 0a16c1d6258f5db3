"""Undo: what a person has just done can be taken back for some seconds, also after a reload.

The offer is kept in the session. Who makes one names a registered function and its data.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from crawler.web.pages import safe_next
from crawler.web.permissions import person_of

SHOWN_SECONDS = 10
"""For so long a page offers it."""
KEPT_SECONDS = 120
"""For so long it is taken: a slow connection may bring the answer later."""
_KEY = "undo"

Undo = Callable[[User, Any], str]
"""A function that takes a deed back. It is given the person and the data, and returns a sentence."""

_functions: dict[str, Undo] = {}


def register(name: str) -> Callable[[Undo], Undo]:
    """Register a function that undoes a deed, under the name that `offer` is given."""

    def add(function: Undo) -> Undo:
        _functions[name] = function
        return function

    return add


def offer(request: HttpRequest, words: str, name: str, data: Any) -> None:
    """Say what was done on the next page, and offer to undo it. `data` is what JSON can hold."""
    request.session[_KEY] = {
        "token": secrets.token_urlsafe(12),
        "words": words,
        "name": name,
        "data": data,
        "at": time.time(),
    }


def offered(request: HttpRequest) -> dict[str, Any] | None:
    """Return what can be undone now: `words`, `token`, and `seconds` for which it is still shown."""
    offer_row = request.session.get(_KEY) if hasattr(request, "session") else None
    if not offer_row:
        return None
    seconds = SHOWN_SECONDS - (time.time() - offer_row["at"])
    if not 0 < seconds <= SHOWN_SECONDS:
        return None
    return {"words": offer_row["words"], "token": offer_row["token"], "seconds": round(seconds)}


@require_POST
def undo(request: HttpRequest) -> HttpResponse:
    """Take back what was offered, and go on where the person was."""
    offer_row = request.session.get(_KEY) or {}
    is_same = secrets.compare_digest(
        str(offer_row.get("token", "")).encode(), request.POST.get("token", "").encode()
    )
    if not offer_row or not is_same or time.time() - offer_row["at"] > KEPT_SECONDS:
        messages.warning(request, _("It is too late to undo this."))
    else:
        del request.session[_KEY]
        messages.success(request, _functions[offer_row["name"]](person_of(request), offer_row["data"]))
    return HttpResponseRedirect(safe_next(request, "/"))
