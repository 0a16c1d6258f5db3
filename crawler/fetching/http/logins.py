"""Logins: headers that are sent to the addresses they were given for, and to no other. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from urllib.parse import unquote

from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason
from crawler.text.records import Record

# Up to the last @ of the authority, so that a password may hold one.
_USER = re.compile(r"(\s*(?:feed:)?(?:https?|feed)://)([^/?#\s]*)@(?=[^/?#\s@]+)", re.IGNORECASE)
_SENT = re.compile(r"[\t\x20-\x7e]+")
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OWN = frozenset(
    {
        "accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host",
        "if-modified-since", "if-none-match", "keep-alive", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade", "user-agent",
    }
)  # fmt: skip
"""Headers that the client writes itself."""
MAX_VALUE = 4000


class LoginError(ValueError):
    """An error raised for a login that no request can carry; its text is a sentence."""


class Login(Record, frozen=True):
    """A header for an address and all below it, such as `Authorization` for `https://example.org/feed`.

    `prefix` is a canonical URL. Its value is not shown by repr(). With an `owner` it is sent only for what
    belongs to this person.
    """

    prefix: str
    name: str
    value: str
    owner: int = 0

    def __repr__(self) -> str:
        return f"Login({self.prefix!r}, {self.name!r})"

    def covers(self, url: str) -> bool:
        """Return whether the login is for a canonical URL: the same origin, the same path or one below it."""
        if not url.startswith(self.prefix):
            return False
        remainder = url[len(self.prefix) :]
        # https://example.org/feed covers /feed/x and not /feeds (RFC 7617, section 2.2).
        return not remainder or self.prefix.endswith("/") or remainder[0] in "/?"


def headers_for(url: str, logins: Iterable[Login]) -> dict[str, str]:
    """Return the headers of the logins for a canonical URL, that with the longest address first."""
    headers: dict[str, str] = {}
    # The most exact address wins, and of equals a person's own login, as owner 0 means everybody.
    for login in sorted(logins, key=lambda each: (-len(each.prefix), not each.owner)):
        if login.covers(url) and login.name.lower() not in map(str.lower, headers):
            headers[login.name] = login.value
    return headers


def basic(user: str, password: str) -> tuple[str, str]:
    """Return the header of HTTP Basic (RFC 7617), in UTF-8. Raises LoginError."""
    # The first colon ends the name (RFC 7617, section 2), so that the rest would become the password.
    if ":" in user:
        raise LoginError(gettext_noop("a user name holds no colon"))
    return checked_header(
        "Authorization", "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    )


def bearer(token: str) -> tuple[str, str]:
    """Return the header of a bearer token (RFC 6750). Raises LoginError."""
    return checked_header("Authorization", f"Bearer {token.strip()}")


def checked_header(name: str, value: str) -> tuple[str, str]:
    """Return a header that a request can carry. Raises LoginError."""
    name, value = name.strip(), value.strip()
    # A login that may write Host or Transfer-Encoding would forge requests.
    if not _NAME.fullmatch(name) or name.lower() in _OWN:
        raise LoginError(Reason("{0} is no header for a login", f"{name[:100]!r}"))
    if not _SENT.fullmatch(value) or len(value) > MAX_VALUE:
        raise LoginError(Reason("the value needs letters of ASCII in one line, {0} at most", MAX_VALUE))
    return name, value


def without_login(text: str) -> tuple[str, tuple[str, str] | None]:
    """Return an address without its user name and password, and these two if it has any.

    `https://user%40host.com:p%3Aw@example.org/` stands for the name `user@host.com` and the password `p:w`.
    """
    match = _USER.match(text)
    if match is None:
        return text, None
    user, _, password = match[2].partition(":")
    return match[1] + text[match.end() :], (unquote(user), unquote(password))
