"""Shared parts of the API's endpoints: the login, the parameters with their limits, and the responses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page

from articles.greader import names
from articles.greader.access import is_edit_token, is_good, login_with, note_use
from articles.greader.models import ReaderLogin
from articles.greader.names import BadInput
from articles.models import Subscriber
from crawler.database.readers import read_as
from crawler.web.attempts import count_attempt, seconds_to_wait, too_many

MAX_FIELDS = 11_000
LONGEST = 4000
"""Characters of one parameter."""

MAX_STREAMS = 100
_NO_EDIT_TOKENS = ("", "x")  # FeedMe sends none and Reeder an x; the login alone proves who writes
_SCHEME, _FIELD = "googlelogin", "auth="

View = Callable[..., HttpResponse]


class Parameters:
    """Names and values of a request, the body's before the query's. Invalid values raise BadInput."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            if len(value) > LONGEST or "\0" in value:
                raise BadInput(f"the parameter {name[:40]!r} is too long, or has a zero byte in it")
            self._values.setdefault(name, []).append(value)

    def one(self, name: str, default: str = "") -> str:
        """Return the first value, or `default`."""
        return self._values.get(name, [default])[0]

    def needed(self, name: str) -> str:
        """Return the first value. Raises BadInput when it is missing or empty."""
        if value := self.one(name):
            return value
        raise BadInput(f"the parameter {name!r} is missing")

    def all(self, name: str, limit: int) -> list[str]:
        """Return the non-empty values. Raises BadInput for more than `limit`."""
        values = [value for value in self._values.get(name, ()) if value]
        if len(values) > limit:
            raise BadInput(f"{len(values)} values of {name!r} are too many; up to {limit}")
        return values

    def titles(self, name: str, limit: int) -> list[str]:
        """Return the first `limit` values, also empty ones: they pair with another parameter by position."""
        return self._values.get(name, [])[:limit]

    def whole(self, name: str, default: int, minimum: int = 0) -> int:
        """Return the parameter as a whole number, or `default`. Raises BadInput for one below `minimum`."""
        text = self.one(name)
        if not text:
            return default
        if not (text.isascii() and text.isdecimal() and len(text) <= 18 and int(text) >= minimum):
            raise BadInput(f"the parameter {name!r} must be a whole number of at least {minimum}")
        return int(text)


@dataclass(frozen=True, slots=True)
class ApiCall:
    """An authenticated request with its login, its parameters and its time."""

    request: HttpRequest
    login: ReaderLogin
    parameters: Parameters
    now: datetime

    @property
    def subscriber(self) -> Subscriber:
        return self.login.subscriber

    @property
    def own_names(self) -> tuple[str, str]:
        """The names of this user in the id of a stream."""
        user = self.subscriber.user
        return (str(user.pk), user.get_username())

    def stream(self, text: str) -> names.Stream:
        """Parse the id of a stream. Raises BadInput."""
        return names.stream(text, self.own_names)

    def streams(self, name: str) -> list[names.Stream]:
        """Parse the streams named by a parameter. Raises BadInput."""
        return [self.stream(text) for text in self.parameters.all(name, MAX_STREAMS)]


def cross_origin(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let web apps of other origins call a view that knows its callers by what they send, not by cookies."""

    @wraps(view)
    def opened(request: HttpRequest, **place: str) -> HttpResponse:
        response = HttpResponse(status=204) if request.method == "OPTIONS" else view(request, **place)
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
        response.headers["Access-Control-Allow-Methods"] = "GET, POST, OPTIONS"
        return response

    return opened


def reads(view: View) -> View:
    """Wrap an endpoint that changes nothing: GET or POST, as readers use either."""
    return _endpoint(view, ("GET", "HEAD", "POST"), writes=False)


def writes(view: View) -> View:
    """Wrap an endpoint that changes something: POST only."""
    return _endpoint(view, ("POST",), writes=True)


def plain(text: str, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """Return a response of plain text, for people or in Google Reader's wording."""
    return HttpResponse(text, "text/plain; charset=utf-8", status=status, headers=headers)


def in_json(values: dict[str, Any]) -> HttpResponse:
    """Return a JSON response for the reader."""
    return JsonResponse(values, json_dumps_params={"ensure_ascii": False})


def ok() -> HttpResponse:
    """Return Google Reader's response to every write; reader apps compare it letter by letter."""
    return plain("OK")


def read_pairs(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the fields of the body. Raises BadInput.

    Parsed here and not by Django, whose limit of a thousand fields is below what readers mark at once.
    """
    try:
        if request.content_type == "multipart/form-data":
            return [(name, str(value)) for name, values in request.POST.lists() for value in values]
        if request.body.lstrip()[:1] == b"<":  # a file, such as OPML
            return []
        return _pairs(request.body.decode(errors="replace"))
    except SuspiciousOperation as error:
        raise BadInput("the request is too large") from error


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise BadInput(f"more than {MAX_FIELDS} parameters") from error


def _endpoint(view: View, methods: tuple[str, ...], *, writes: bool) -> View:
    """Wrap an endpoint that requires a login token. Cookies are ignored, so CSRF cannot forge requests."""

    @csrf_exempt
    @login_not_required
    @cross_origin
    @gzip_page
    @cache_control(private=True, no_store=True)
    @wraps(view)
    def endpoint(request: HttpRequest, **place: str) -> HttpResponse:
        now = datetime.now(UTC)
        try:
            login = _login(request, now)
            if isinstance(login, HttpResponse):
                return login
            read_as(login.subscriber.user_id)
            if request.method not in methods:
                words = f"Use {' or '.join(methods)} here.\n"
                return plain(words, 405, {"Allow": ", ".join(methods)})
            query = _pairs(request.META.get("QUERY_STRING", ""))
            body = read_pairs(request) if request.method == "POST" else []
            parameters = Parameters(body + query)
            token = parameters.one("T").strip()
            if writes and token not in _NO_EDIT_TOKENS and not is_edit_token(token, login):
                words = "The token T is not, or no longer, good: ask for a new one.\n"
                return plain(words, 401, {"X-Reader-Google-Bad-Token": "true"})
            note_use(login, now)
            return view(ApiCall(request, login, parameters, now), **place)
        except BadInput as error:
            return plain(f"Not understood: {error}.\n", 400)

    return endpoint


def _login(request: HttpRequest, now: datetime) -> ReaderLogin | HttpResponse:
    """Return the login of the header `Authorization: GoogleLogin auth=...`, or the error response.

    A POST without the header may have the same token as T (Liferea; Miniflux takes it). Raises BadInput.
    """
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    credentials = credentials.strip()
    if not scheme and request.method == "POST":
        scheme, credentials = _SCHEME, _FIELD + dict(read_pairs(request)).get("T", "")
    if (
        scheme.lower() != _SCHEME
        or not credentials.removeprefix(_FIELD)
        or not credentials.startswith(_FIELD)
    ):
        return _unauthorized()
    secret = credentials.removeprefix(_FIELD).strip().strip('"')
    login = login_with(secret)
    if login is None:
        if too_many("reader-token", request, now, secret):
            words = "Too many unknown tokens were shown from where you are.\n"
            return plain(words, 429, {"Retry-After": str(seconds_to_wait(now))})
        count_attempt("reader-token", request, now, secret)
    return login if login and is_good(login) else _unauthorized()


def _unauthorized() -> HttpResponse:
    headers = {"Google-Bad-Token": "true", "WWW-Authenticate": 'GoogleLogin realm="freshet"'}
    return plain("Unauthorized: sign in at accounts/ClientLogin.\n", 401, headers)
