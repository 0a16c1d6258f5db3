"""Requests to another feed reader's server, few and careful, for they carry a password. Knows no Django."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import requests

from articles.moving.values import MovingError
from crawler.fetching.http.guarded_sockets import CONNECT_SECONDS, RefusedError
from crawler.text.marking import gettext_noop

MAX_ANSWER = 20_000_000
"""Bytes of an answer, unpacked."""
SPACING = 1.0
"""Seconds between the begins of two requests."""
SILENCE_SECONDS, ANSWER_SECONDS = 20.0, 45.0
USUAL_WAIT, MAX_WAIT = 60.0, 86_400.0
"""Seconds that are waited where a server does not say how long, and at most."""
MAX_REDIRECTS = 5
MAX_DEPTH = 100
_PIECE = 65_536
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class WaitError(MovingError):
    """Error for a server that asks to wait for a number of seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__("wait", gettext_noop("the server asks to wait before the next request"))
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """A server's answer: its status, its content type in lower case, its bytes."""

    status: int
    content_type: str
    body: bytes

    @property
    def is_page(self) -> bool:
        """Return whether it is a page for people."""
        start = self.body[:200].lstrip().lower()
        return "html" in self.content_type or start.startswith((b"<!doctype", b"<html"))

    @property
    def text(self) -> str:
        """Return its bytes as text."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return its value. Raises MovingError for a status that is an error, and for other than JSON."""
        check_status(self)
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise MovingError(
                "not-understood", gettext_noop("the server's answer was not understood")
            ) from None


class Http:
    """A session with one server, at most one request a second. Leaving `with` closes its connections."""

    def __init__(self, user_agent: str = "Freshet") -> None:
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers.update({"User-Agent": user_agent, "Accept": "application/json, */*;q=0.5"})
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def get(
        self,
        url: str,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        basic: tuple[str, str] | None = None,
    ) -> ServerAnswer:
        """Return the answer to a GET. Raises MovingError if there is none, and WaitError."""
        return self._answer("GET", url, query=query, headers=headers, basic=basic)

    def post(
        self,
        url: str,
        form: Mapping[str, Any],
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ServerAnswer:
        """Return the answer to a POST with a form, as `get` does."""
        return self._answer("POST", url, query=query, form=form, headers=headers)

    def _answer(self, method: str, url: str, **arguments: Any) -> ServerAnswer:
        try:
            for _ in range(MAX_REDIRECTS):
                response, target = self._once(method, url, **arguments)
                if not target:
                    return response
                if not _is_same_server(url, target):
                    raise MovingError(
                        "elsewhere",
                        gettext_noop("the server sends us to another one, which does not get the password"),
                    )
                # The target of a redirect has the query in it.
                url, arguments["query"] = target, None
        except (requests.RequestException, OSError, UnicodeError, ValueError) as error:
            raise _failure(error) from None
        # As FreshRSS does for every address that it does not know.
        raise MovingError("wrong-place", gettext_noop("the server redirects without end"))

    def _once(
        self,
        method: str,
        url: str,
        *,
        query: Mapping[str, Any] | None = None,
        form: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        basic: tuple[str, str] | None = None,
    ) -> tuple[ServerAnswer, str]:
        """Return an answer, and the address that it redirects to."""
        self._pace()
        with self._session.request(
            method,
            url,
            params=dict(query or {}),
            data=dict(form) if form is not None else None,
            headers=dict(headers or {}),
            auth=tuple(part.encode() for part in basic) if basic else None,  # type: ignore[arg-type]
            stream=True,
            allow_redirects=False,
            timeout=(CONNECT_SECONDS, SILENCE_SECONDS),
        ) as response:
            status, response_headers = response.status_code, response.headers
            if status == 429 or (status == 503 and "Retry-After" in response_headers):
                raise WaitError(_wait(response_headers))
            target = urljoin(url, response_headers.get("Location", "")) if status in _REDIRECTS else ""
            body = b"" if target else _body(response)
            return ServerAnswer(status, response_headers.get("Content-Type", "").lower(), body), target

    def _pace(self) -> None:
        if (pause := self._next - time.monotonic()) > 0:
            time.sleep(pause)
        self._next = time.monotonic() + SPACING


def check_status(response: ServerAnswer) -> None:
    """Raise MovingError unless an answer's status is that of success."""
    if response.status in (401, 403):
        raise wrong_login()
    if response.status in (404, 405, 410):
        raise MovingError("not-found", gettext_noop("the server has no such interface at this address"))
    if response.status >= 500:
        raise MovingError("no-server", gettext_noop("the server answers that it has a fault of its own"))
    if not 200 <= response.status < 300:
        raise MovingError("not-understood", gettext_noop("the server does not take the request"))


def wrong_login() -> MovingError:
    """Return the error for a name and password, or a token, that a server does not accept."""
    return MovingError(
        "wrong-login", gettext_noop("the server does not accept this name and password, or this token")
    )


def typed_address(url: str) -> str:
    """Return an address as a person types it, with https where no scheme is, without query and last slashes.

    Raises MovingError for one that is no address of the web, or has a password in it.
    """
    url = url.strip()
    if "://" not in url:
        url = f"https://{url}"
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        _ = parts.port
    except ValueError:
        is_good = False
    if not is_good or any(letter.isspace() for letter in url):
        raise MovingError("no-address", gettext_noop("this is not an address of a server"))
    return parts._replace(query="", fragment="").geturl().rstrip("/")


def _is_same_server(url: str, target: str) -> bool:
    """Return whether a redirect stays on its host, and leaves no encryption."""
    old, new = urlsplit(url), urlsplit(target)
    if new.scheme not in ("http", "https") or old.hostname != new.hostname:
        return False
    if old.scheme == new.scheme:
        return old.port == new.port
    return new.scheme == "https" and new.port is None


def _body(response: requests.Response) -> bytes:
    until, body = time.monotonic() + ANSWER_SECONDS, bytearray()
    for piece in response.iter_content(_PIECE):
        body += piece
        if len(body) > MAX_ANSWER:
            raise MovingError(
                "too-large", gettext_noop("the server's answer is larger than this deployment reads")
            )
        if time.monotonic() > until:
            raise MovingError("too-slow", gettext_noop("it did not answer in time"))
    return bytes(body)


def _wait(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server asks to wait. Inoreader has a header of its own."""
    header = (headers.get("Retry-After") or headers.get("X-Reader-Limits-Reset-After") or "").strip()
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            seconds = (moment - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            seconds = USUAL_WAIT
    # Written so that "nan" is bounded, too.
    return seconds if 1.0 <= seconds <= MAX_WAIT else (MAX_WAIT if seconds > 1.0 else 1.0)


def _failure(error: Exception) -> MovingError:
    """Return an error in words for a request without an answer."""
    causes = _causes(error)
    for cause in causes:
        if isinstance(cause, RefusedError):
            return MovingError("refused-address", str(cause))
    if any(isinstance(cause, requests.exceptions.SSLError | ssl.SSLError) for cause in causes):
        return MovingError(
            "no-tls", gettext_noop("the connection could not be encrypted, or its certificate is not valid")
        )
    if any(isinstance(cause, requests.Timeout | TimeoutError) for cause in causes):
        return MovingError("too-slow", gettext_noop("it did not answer in time"))
    return MovingError("no-server", gettext_noop("no server answers there"))


def _causes(error: BaseException) -> list[BaseException]:
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and len(causes) < MAX_DEPTH:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return causes
