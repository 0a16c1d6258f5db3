"""The session of `requests` by which everything is fetched, with a transport over guarded connections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import requests
from requests.adapters import BaseAdapter
from requests.hooks import default_hooks
from requests.structures import CaseInsensitiveDict

from crawler.fetching.http.connections import Connections, Target
from crawler.fetching.http.transfer import Answer, TransferLimits, transfer
from crawler.fetching.http.wire import Allowance


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange to be made: the origin, the path as it is sent, and the limits."""

    target: Target
    path: str
    allowance: Allowance
    limits: TransferLimits


class GuardedRequest(requests.PreparedRequest):
    """A request whose URL and headers go out as they were checked: `requests` would write the URL anew."""

    def __init__(self, url: str, headers: Mapping[str, str], body: bytes | None, exchange: Exchange) -> None:
        super().__init__()
        self.method = "GET" if body is None else "POST"
        self.url, self.headers, self.body = url, CaseInsensitiveDict(headers), body
        self.hooks = default_hooks()
        self.exchange = exchange


class GuardedResponse(requests.Response):
    """A response with the answer as it was received, repeated headers included."""

    def __init__(self, request: GuardedRequest, reply: Answer) -> None:
        super().__init__()
        self.answer = reply
        self.request, self.url = request, request.url or ""
        self.status_code, self.headers = reply.status, CaseInsensitiveDict(reply.headers)
        self._content, self._content_consumed = reply.body, True


class GuardedAdapter(BaseAdapter):
    """A transport over `Connections`, which checks addresses as it dials and bounds sizes and times."""

    def __init__(self, connections: Connections) -> None:
        super().__init__()
        self._connections = connections

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> GuardedResponse:
        """Exchange a request and its answer. Raises FetchError."""
        guarded = cast("GuardedRequest", request)
        exchange = guarded.exchange
        reply = transfer(
            self._connections,
            exchange.target,
            exchange.path,
            headers=dict(request.headers),
            allowance=exchange.allowance,
            limits=exchange.limits,
            form=request.body if isinstance(request.body, bytes) else None,
        )
        return GuardedResponse(guarded, reply)

    def close(self) -> None:
        """Close idle connections."""
        self._connections.close()


class GuardedSession(requests.Session):
    """A session that asks neither the environment nor a jar of cookies, and follows no redirect by itself.

    `Client` follows them, for each is checked, waits for its host's turn, and keeps the cookies of one chain.
    """

    def __init__(self, connections: Connections) -> None:
        super().__init__()
        # Proxies and .netrc of the environment would send requests past the guard, with somebody's passwords.
        self.trust_env = False
        # Without the usual ones: an unknown scheme then has no transport at all.
        self.adapters.clear()
        adapter = GuardedAdapter(connections)
        self.mount("https://", adapter)
        self.mount("http://", adapter)

    def exchange(self, request: GuardedRequest) -> Answer:
        """Send a request. Returns its answer. Raises FetchError."""
        response = self.send(request, allow_redirects=False, stream=True, proxies={}, verify=True, cert=None)
        return cast("GuardedResponse", response).answer

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return None: no redirect is followed here."""
        return
