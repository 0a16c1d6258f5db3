"""A WebSub hub on loopback: confirms what it is asked for, and pushes with signatures."""

from __future__ import annotations

import hashlib
import hmac
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode

from tests.servers import Reply, Request, WebServer, rss

Form = dict[str, str]


@dataclass
class Hub:
    """The hub at `/hub` of a web server, and the feed at `/feed` that names it."""

    web: WebServer
    lease: int = 864_000
    confirms: bool = True
    forms: list[Form] = field(default_factory=list)
    confirmed: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.web.replies["/hub"] = self._asked
        self.publish(0)

    @property
    def topic(self) -> str:
        return f"{self.web.origin}/feed"

    def publish(self, entries: int) -> bytes:
        """Let the feed have so many entries; its document."""
        atom = "xmlns:atom='http://www.w3.org/2005/Atom'"
        links = "".join(
            f"<atom:link {atom} rel='{rel}' href='{self.web.origin}/{path}'/>"
            for rel, path in (("hub", "hub"), ("self", "feed"))
        )
        body = rss(self.web.origin, range(entries)).replace(b"<description/>", links.encode(), 1)
        headers = {"ETag": f'"{entries}"', "Content-Type": "application/rss+xml"}
        self.web.replies["/feed"] = Reply(body, headers=headers)
        return body

    def push(self, body: bytes, *, secret: str | None = None, method: str = "sha256") -> int:
        """Send it to the subscriber; the status that came back."""
        key = (secret or self.forms[-1]["hub.secret"]).encode()
        signature = hmac.new(key, body, getattr(hashlib, method)).hexdigest()
        headers = {"Content-Type": "application/rss+xml", "X-Hub-Signature": f"{method}={signature}"}
        return status_of(urllib.request.Request(self.forms[-1]["hub.callback"], body, headers))

    def verify(self, form: Form, **changes: str) -> tuple[int, bytes]:
        """Ask the callback whether the subscription is wanted."""
        query = {
            "hub.mode": form["hub.mode"],
            "hub.topic": form["hub.topic"],
            "hub.challenge": "a challenge & more",
            "hub.lease_seconds": str(self.lease),
        } | {f"hub.{name}": value for name, value in changes.items()}
        return answer_of(urllib.request.Request(f"{form['hub.callback']}?{urlencode(query)}"))

    def _asked(self, request: Request) -> Reply:
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        self.forms.append(form)
        if self.confirms:
            # As hubs do: by a request of its own, while the answer is still on its way.
            asking = threading.Thread(target=self._confirm, args=(form,))
            asking.start()
            asking.join(10)
        return Reply(status=202)

    def _confirm(self, form: Form) -> None:
        self.confirmed.append(self.verify(form) == (200, b"a challenge & more"))


def status_of(request: urllib.request.Request) -> int:
    return answer_of(request)[0]


def answer_of(request: urllib.request.Request) -> tuple[int, bytes]:
    """Status and body, whatever the status is."""
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()
