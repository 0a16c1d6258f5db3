"""Cookies within one chain of redirects, and nowhere else: they say nothing about anybody. Pure.

Some servers set a cookie and lead back to the same address until it comes back (issue 57).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_COOKIES = 20
MAX_COOKIE_CHARACTERS = 4_000
_COOKIE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([^;,\x00-\x1f\x7f]*)")
_DOMAIN = re.compile(r";\s*domain=\.?([^;\s]+)", re.IGNORECASE)


class ChainCookies:
    """The cookies that hosts have set during one chain of redirects."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], str] = {}

    def keep(self, host: str, headers: Iterable[str]) -> bool:
        """Keep what the Set-Cookie headers of an answer set. Returns whether anything is new.

        A domain counts where the host lies within it and it has a dot, so that it is no top-level one.
        """
        is_new = False
        for header in headers:
            match = _COOKIE.match(header)
            if match is None or len(header) > MAX_COOKIE_CHARACTERS:
                continue
            domain = _DOMAIN.search(header)
            scope = domain[1].lower() if domain else host
            # A host may set cookies for its parents, not for strangers or for a whole top-level domain.
            if scope != host and ("." not in scope or not host.endswith(f".{scope}")):
                continue
            key, value = (scope, match[1]), match[2].strip()
            if self._values.get(key) != value and (key in self._values or len(self._values) < MAX_COOKIES):
                self._values[key] = value
                is_new = True
        return is_new

    def header(self, host: str) -> str:
        """Return the Cookie header for a host, "" without cookies for it."""
        return "; ".join(
            f"{name}={value}"
            for (scope, name), value in self._values.items()
            if host == scope or host.endswith(f".{scope}")
        )
