"""The page that answers "is it me?": open to everybody, with more for who is signed in."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from crawler.operation.site.serializers import StatusSerializer
from crawler.operation.site.status import (
    SHAPES,
    ServiceStanding,
    complete_until,
    facts,
    last_came,
    own_sentence,
    sentence,
    standing,
)
from crawler.web.deadline import limited_to
from crawler.web.roles import OPERATOR, is_at_least

log = logging.getLogger(__name__)

OWN_SECONDS = 2.0
"""For the queries of a signed-in person's page; when they are over, one sentence has to do."""
KEPT_SECONDS = 10
HTML, JSON = "text/html", "application/json"


class StatusView(APIView):
    """The state of Freshet in one sentence."""

    # Nobody is asked who they are: that takes a database, which may be what does not work.
    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()

    @extend_schema(summary="Whether Freshet works, in one sentence", responses=StatusSerializer, auth=[])
    def get(self, request: Request) -> Response:
        response = Response(_in_json(standing(datetime.now(UTC))))
        patch_cache_control(response, public=True, max_age=KEPT_SECONDS)
        return response


@login_not_required
@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Answer with a sentence, whatever does not work (200); with facts for who is signed in."""
    now = datetime.now(UTC)
    service = standing(now)
    if request.get_preferred_type([HTML, JSON]) == JSON:
        response: HttpResponse = JsonResponse(_in_json(service))
        patch_cache_control(response, public=True, max_age=KEPT_SECONDS)
    else:
        # No database that is known to be silent is asked for the visitor's session: that may wait for it.
        response = (None if service.cause == "database" else _own_page(request, service, now)) or _short_page(
            request, service
        )
    patch_vary_headers(response, ("Accept", "Accept-Language", "Cookie"))
    return response


def _own_page(request: HttpRequest, service: ServiceStanding, now: datetime) -> HttpResponse | None:
    """Return the page of a person; None for a stranger, and where the database fails on the way."""
    try:
        with limited_to(OWN_SECONDS):
            if not isinstance(request.user, User):
                return None
            response = render(request, "crawler/status.html", _own(request.user, service, now))
    except DatabaseError:
        log.warning("the status of a person took the database too long, or it failed", exc_info=True)
        return None
    patch_cache_control(response, private=True, no_store=True)
    return response


def _own(person: User, service: ServiceStanding, now: datetime) -> dict[str, Any]:
    last = last_came(person)
    return {
        "shape": SHAPES[service.state],
        "sentence": own_sentence(service, last, now),
        "complete": complete_until(service, now, timezone.get_current_timezone()),
        "is_well": service.state == "well",
        "operates": is_at_least(person, OPERATOR),
        "facts": facts(person, service, last, now),
    }


def _short_page(request: HttpRequest, service: ServiceStanding) -> HttpResponse:
    """Return the page of a stranger, made without the database: no context processor runs."""
    context = {"request": request, "shape": SHAPES[service.state], "sentence": sentence(service)}
    response = HttpResponse(render_to_string("crawler/status_short.html", context))
    if request.COOKIES:  # it may be a person whose session could not be read
        patch_cache_control(response, private=True, no_store=True)
    else:
        patch_cache_control(response, public=True, max_age=KEPT_SECONDS)
    return response


def _in_json(service: ServiceStanding) -> dict[str, Any]:
    return {"state": service.state, "sentence": sentence(service), "since": service.since}
