"""An id for each request, in its answer and in all records of the log that are about it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from crawler.telemetry import logs

HEADER = "X-Request-Id"
_ID = re.compile(r"[\w.-]{8,64}", re.ASCII)


def request_id(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Name the request in the log and in its answer, as middleware.

    A proxy before this server may bring the id in X-Request-Id; it must set that header itself.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        brought_id = request.headers.get(HEADER, "") if settings.BEHIND_TLS_PROXY else ""
        identifier = brought_id if _ID.fullmatch(brought_id) else uuid.uuid4().hex
        with logs.named(request=identifier):
            response = get_response(request)
        response.headers[HEADER] = identifier
        return response

    return middleware
