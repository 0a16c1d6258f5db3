"""A public demonstration: every visitor is one and the same reader, and nothing can be changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import MiddlewareNotUsed
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext_lazy

from crawler.web.refusals import refusal

VISITOR = "keeper"
"""The person that every visitor is."""
READING = frozenset({"GET", "HEAD", "OPTIONS"})
NOTHING_CHANGES = gettext_lazy("This is a demonstration: look at everything, nothing can be changed.")


def demonstration(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Sign every visitor in as VISITOR, refuse requests that change anything, and undo what pages note.

    For use as middleware.

    Raises MiddlewareNotUsed if this is no demonstration.
    """
    if not settings.DEMO:
        raise MiddlewareNotUsed

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.method not in READING:
            return refusal(request, NOTHING_CHANGES, 403)
        request.user = cast(User, SimpleLazyObject(_visitor))
        with transaction.atomic():
            response = get_response(request)
            transaction.set_rollback(True)  # what a page notes, such as that an article was opened
        request.session.modified = False
        return response

    return middleware


def _visitor() -> User:
    return User.objects.get(username=VISITOR)
