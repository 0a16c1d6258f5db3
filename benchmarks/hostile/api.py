"""A client of the product's REST API and pages, as an administrator's scripts and browser are."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

SECONDS = 60.0
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Reply:
    """Status and body of an answer."""

    status: int
    body: bytes

    def json(self) -> Any:
        """The body read as JSON. Raises ValueError."""
        return json.loads(self.body)


class ApiError(RuntimeError):
    """An answer that was not the expected one."""


@dataclass
class Api:
    """`base` as in `http://127.0.0.1:8000`; `token` of the API. Pages need `sign_in`."""

    base: str
    token: str = ""
    cookies: dict[str, str] = field(default_factory=dict)

    def request(
        self, method: str, target: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """One request on a connection of its own. Raises OSError."""
        parts = urlsplit(self.base)
        link = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS)
        try:
            link.request(method, target, body, dict(headers or {}))
            answer = link.getresponse()
            for name, value in answer.getheaders():
                if name.lower() == "set-cookie":
                    cookie, _, rest = value.partition("=")
                    self.cookies[cookie] = rest.partition(";")[0]
            return Reply(answer.status, answer.read())
        except http.client.HTTPException as error:
            raise OSError(f"{method} {target}: {error!r}") from error
        finally:
            link.close()

    def get(self, target: str, **query: object) -> Any:
        """What the API answers. Raises ApiError unless that is a 200 with JSON."""
        whole = f"{target}?{urlencode(query)}" if query else target
        reply = self.request("GET", whole, headers={"Authorization": f"Token {self.token}"})
        if reply.status != 200:
            raise ApiError(f"GET {whole}: {reply.status} {reply.body[:200]!r}")
        return reply.json()

    def post(self, target: str, **fields: object) -> Any:
        """Send JSON. Raises ApiError unless the answer is a 2xx with JSON."""
        headers = {"Authorization": f"Token {self.token}", "Content-Type": "application/json"}
        reply = self.request("POST", target, json.dumps(fields).encode(), headers)
        if reply.status // 100 != 2:
            raise ApiError(f"POST {target}: {reply.status} {reply.body[:300]!r}")
        return reply.json()

    def rows(self, target: str, **query: object) -> Iterator[dict[str, Any]]:
        """All rows of a list, by its pages."""
        page = self.get(target, **query, page_size=500)
        while True:
            yield from page["results"]
            if not page["next"]:
                return
            following = urlsplit(page["next"])
            page = self.get(f"{following.path}?{following.query}")

    def sign_in(self, name: str, password: str) -> None:
        """Begin a session as a browser does. Raises ApiError."""
        form = self.page("/accounts/login/")
        found = re.search(rb'name="csrfmiddlewaretoken" value="([^"]+)"', form.body)
        fields = {
            "username": name,
            "password": password,
            "csrfmiddlewaretoken": found[1].decode() if found else "",
        }
        headers = {
            "Content-Type": _FORM,
            "Cookie": self._cookies(),
            "Referer": f"{self.base}/accounts/login/",
        }
        reply = self.request("POST", "/accounts/login/", urlencode(fields).encode(), headers)
        if reply.status != 302:
            raise ApiError(f"nobody is signed in: {reply.status}")

    def page(self, target: str) -> Reply:
        """A page, as who is signed in sees it."""
        return self.request("GET", target, headers={"Cookie": self._cookies()})

    def ask(self, query: bytes) -> Reply:
        """A question to the graph."""
        headers = {
            "Cookie": self._cookies(),
            "Content-Type": "application/sparql-query",
            "X-CSRFToken": self.cookies.get("csrftoken", ""),
            "Referer": f"{self.base}/graph/query/",
        }
        if self.token:
            headers["Authorization"] = f"Token {self.token}"
        return self.request("POST", "/graph/sparql", query, headers)

    def _cookies(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())
