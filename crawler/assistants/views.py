"""`/mcp`: the Model Context Protocol over HTTP, one request and one answer at a time, without sessions."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import AuthenticationFailed, Throttled

from crawler.accounts.assistants.callers import Caller, caller_of, challenge_of
from crawler.engine.chosen import chosen
from crawler.web.throttles import DailyThrottle

MAX_BODY_BYTES = 256 * 1024
CALLS_A_MINUTE = 240
"""Of one person, counted by each web server. An assistant makes some ten calls to answer a question."""


class _Minute:
    """Counts the calls of people in the last minute."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[int, deque[float]] = {}

    def seconds_to_wait(self, person: int) -> float:
        """Count a call. Returns the seconds until it may be made, 0 for now."""
        now = time.monotonic()
        with self._lock:
            calls = self._calls.setdefault(person, deque())
            while calls and calls[0] < now - 60:
                calls.popleft()
            if len(calls) >= CALLS_A_MINUTE:
                return 60 - (now - calls[0])
            calls.append(now)
            return 0.0


_minute = _Minute()


@csrf_exempt
@login_not_required
def mcp(request: HttpRequest) -> HttpResponse:
    """ApiAnswer one message of an assistant that has signed in by a token or by OAuth."""
    if not chosen("ASSISTANTS"):
        raise Http404
    if request.method != "POST":  # no stream of news: it would hold a thread for each assistant
        return HttpResponseNotAllowed(["POST"])
    if _is_foreign(request):
        return JsonResponse({"error": "Pages of other sites may not use this door."}, status=403)
    try:
        caller = caller_of(request)
    except Throttled as error:
        return _busy(getattr(error, "wait", None) or 60, str(error.detail))
    except AuthenticationFailed as error:
        response = JsonResponse(
            {"error": "invalid_token", "error_description": str(error.detail)}, status=401
        )
        code = "invalid_token" if "Authorization" in request.headers else ""
        response.headers["WWW-Authenticate"] = challenge_of(request, error=code)
        return response
    request.user = caller.user
    return _over_a_limit(request) or async_to_sync(_answered)(request, caller)


def _over_a_limit(request: HttpRequest) -> HttpResponse | None:
    """Count a call, and return the refusal where a limit is reached."""
    if wait := _minute.seconds_to_wait(request.user.pk or 0):
        return _busy(wait, f"More than {CALLS_A_MINUTE} calls in a minute.")
    if not DailyThrottle().allow_request(request, None):  # type: ignore[arg-type]
        return _busy(DailyThrottle().wait(), "The limit of requests of this day is reached.")
    if len(request.body) > MAX_BODY_BYTES:
        return JsonResponse({"error": "The message is too large."}, status=413)
    return None


def _is_foreign(request: HttpRequest) -> bool:
    """Return whether a page of another site sent this: browsers say where a script is from."""
    origin = request.headers.get("Origin", "")
    if not origin or origin in settings.CSRF_TRUSTED_ORIGINS:
        return False
    return urlsplit(origin).netloc != request.get_host()


def _busy(seconds: float, words: str) -> HttpResponse:
    response = JsonResponse({"error": words}, status=429)
    response.headers["Retry-After"] = str(max(int(seconds) + 1, 1))
    return response


async def _answered(request: HttpRequest, caller: Caller) -> HttpResponse:
    """Let the official package answer, as an application of its own kind for this one request.

    It is imported here: it takes some 55 MB and a second, which nobody pays who has no assistant.
    """
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415

    from crawler.assistants.server import server_for  # noqa: PLC0415

    manager = StreamableHTTPSessionManager(server_for(caller), json_response=True, stateless=True)
    body, sent = request.body, _Sent()
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return messages.pop() if messages else {"type": "http.disconnect"}

    scope: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in request.headers.items()
            if name.lower() != "authorization"
        ],
        "client": None,
        "server": None,
        "state": {},
    }
    async with manager.run():
        await manager.handle_request(scope, receive, sent.take)
    response = HttpResponse(bytes(sent.body), status=sent.status)
    for name, value in sent.headers.items():
        response.headers[name] = value
    response.headers["Cache-Control"] = "no-store"
    return response


class _Sent:
    """Messages that the application sends, put together."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = 500, dict[str, str](), bytearray()

    async def take(self, message: Any) -> None:
        """Take a message of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
            self.headers = {name: value for name, value in pairs if name.lower() != "content-length"}
        else:
            self.body += message.get("body", b"")
