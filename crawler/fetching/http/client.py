"""The HTTP client: sends one conditional GET with its redirects, or one form, politely and within bounds.

By a session of `requests` whose transport goes over guarded connections (`crawler.fetching.http.session`).
The URL goes out as it was checked, no failure is retried, and redirects are followed here, for each of them
is checked and waits for its host's turn. docs/architecture.md has what the session costs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import urlsplit

import certifi

from crawler.failures import Failure, FetchError, of_response
from crawler.fetching.http import freshness, urls
from crawler.fetching.http.addresses import AddressGuard
from crawler.fetching.http.connections import Connections, Dialer, Proxy, Target
from crawler.fetching.http.cookies import ChainCookies
from crawler.fetching.http.encodings import ACCEPTED
from crawler.fetching.http.gate import HostGate
from crawler.fetching.http.logins import Login, headers_for
from crawler.fetching.http.names import Lookup, Resolver
from crawler.fetching.http.refresh import refresh_target
from crawler.fetching.http.session import Exchange, GuardedRequest, GuardedSession
from crawler.fetching.http.transfer import Answer, TransferLimits
from crawler.fetching.http.wire import Allowance, tls_context

# */* has a low weight instead of none: servers answer 406 where they know no type of a feed.
ACCEPT_FEED = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    "application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, text/html;q=0.5, */*;q=0.1"
)
ACCEPT_PAGE = "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.1"
ACCEPT_ANY = (
    "text/html, application/xhtml+xml, application/rdf+xml, text/turtle, application/ld+json, "
    "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5"
)

_PERMANENT = frozenset({301, 308})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_VALIDATOR = 2048
# A line break in a stored validator would write headers of its own into the next request.
_NOT_OF_A_HEADER = re.compile(r"[^\x20-\xff]")
_MAX_FORM_ANSWER = 65536


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """The settings of a client; times in seconds, sizes in bytes.

    `deadline` bounds a whole retrieval from the call on: waiting for its turn, redirects, the last
    byte. `silence` bounds one read, `connect_timeout` one address. `allowed_networks` are CIDRs
    that the address guard lets through, `proxy` is `http://[user:password@]host:port` or empty
    (the environment is never asked), `ca_file` replaces the bundled certificate authorities.
    """

    user_agent: str
    deadline: float = 30.0
    connect_timeout: float = 10.0
    silence: float = 15.0
    max_bytes: int = 10 * 1024 * 1024
    max_redirects: int = 5
    allowed_networks: tuple[str, ...] = ()
    proxy: str = ""
    ca_file: str = ""

    def __post_init__(self) -> None:
        # A product token ends up in headers and robots.txt groups; a line break there would forge both.
        if not (self.user_agent.isascii() and self.user_agent.isprintable() and self.user_agent):
            raise ValueError("the user agent must be printable ASCII")


@dataclass(frozen=True, slots=True)
class Response:
    """A successful response: 200, 226 or 304; any 2xx where a form was sent.

    `url` is the final address. `moved_to` is the same address if every redirect on the way was permanent
    (301, 308), else empty; `downgraded` says that a redirect led from https to http. `body` is decompressed,
    `wire_bytes` counts everything received, headers and redirects included. `etag` and `last_modified` are as
    received, to be sent back unchanged; a 304 without them carries the validators that were sent. `request`
    is the head of the last request as sent, without the proxy's headers, `status_line` that of its response.
    `retry_after`, `max_age` and `elapsed` are seconds; `elapsed` excludes the wait for a turn at a host.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes
    moved_to: str = ""
    downgraded: bool = False
    hops: int = 0
    wire_bytes: int = 0
    elapsed: float = 0.0
    conditional: bool = False
    etag: str = ""
    last_modified: str = ""
    content_type: str = ""
    retry_after: float | None = None
    max_age: float | None = None
    request: str = ""
    status_line: str = ""


@dataclass(slots=True)
class _Trip:
    """The state of a retrieval on its way through redirects."""

    url: str
    started: float
    allowance: Allowance
    seen: set[str]
    hops: int = 0
    permanent: bool = True
    downgraded: bool = False
    on_first_host: bool = True
    request: str = ""
    waited: float = 0.0
    cookies: ChainCookies = field(default_factory=ChainCookies)

    @property
    def elapsed(self) -> float:
        """Seconds that the hosts took, without the wait for a turn."""
        return time.monotonic() - self.started - self.waited

    def follow(self, hop: Answer, max_redirects: int, location: str = "") -> None:
        """Advance to a redirect's target, or to the `location` that a page names. Raises FetchError, BadUrl.

        An address may be asked again with a cookie that it has just set.
        """
        location = location or location_of(hop.headers)
        if not location:
            raise FetchError(Failure.REDIRECT, "the redirect names no location", status=hop.status)
        following = urls.join(self.url, location)
        # With a new cookie the same address may answer otherwise (FreshRSS 4470 looped until it came back).
        if self.cookies.keep(urls.host_key(self.url), hop.headers.getlist("set-cookie")):
            self.seen.clear()
        if following in self.seen:
            raise FetchError(Failure.REDIRECT, f"back to {following}", status=hop.status)
        if self.hops >= max_redirects:
            raise FetchError(Failure.REDIRECT, f"more than {max_redirects} redirects", status=hop.status)
        self.hops += 1
        self.seen.add(following)
        # With one temporary redirect on the way the old address stays the right one to ask.
        self.permanent = self.permanent and hop.status in _PERMANENT
        self.downgraded = self.downgraded or (self.url[:6] == "https:" and following[:5] == "http:")
        # Never true again: a chain that leaves a host and returns was steered by another one meanwhile.
        self.on_first_host = self.on_first_host and urls.host_key(following) == urls.host_key(self.url)
        self.url = following


class Client:
    """A client that fetches documents. Threads may share it; `lookup` replaces `socket.getaddrinfo`.

    Raises ValueError for a configuration that makes no sense, OSError for an unreadable `ca_file`.
    """

    def __init__(self, config: ClientConfig, gate: HostGate, lookup: Lookup | None = None) -> None:
        self.config = config
        self._gate = gate
        guard = AddressGuard(config.allowed_networks)
        self._connections = Connections(
            Dialer(guard, Resolver(lookup), config.connect_timeout),
            tls_context(config.ca_file or certifi.where()),
            proxy=Proxy.parse(config.proxy) if config.proxy else None,
        )
        self._session = GuardedSession(self._connections)
        self._logins: tuple[Login, ...] = ()

    def with_logins(self, logins: Sequence[Login]) -> Client:
        """Return this client with logins for some addresses; both share connections and pauses."""
        client = copy(self)
        client._logins = tuple(logins)
        return client

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections."""
        self._session.close()

    @contextmanager
    def turn(self, url: str, spacing: float | None = None) -> Iterator[None]:
        """Hold the turn of a URL's host while another program asks it. Raises FetchError (busy)."""
        with self._gate.turn(urls.host_key(url), time.monotonic() + self.config.deadline / 4, spacing):
            yield

    def get(
        self,
        url: str,
        *,
        accept: str,
        etag: str = "",
        last_modified: str = "",
        subscribers: int = 0,
        max_bytes: int | None = None,
        cut: bool = False,
        spacing: float | None = None,
        deadline: float | None = None,
        follow: bool = True,
        errors: bool = False,
    ) -> Response:
        """Fetch the document at `url`. Returns a 200, 226 or 304. Raises FetchError for everything else.

        Validators are sent to the first host only: behind a redirect to another host they may mean something
        else. `subscribers` > 0 is stated in the User-Agent. With `cut`, a body longer than `max_bytes` is cut
        there. `spacing` replaces the gate's for the first host, `deadline` (seconds) the configured one.
        Without `follow` a redirect is returned as a Response with its status and the target in its header
        `location`. With `errors` the beginning of the body of a redirect or an error is read, too.
        """
        trip = self._trip(url, deadline)
        headers = self._headers(accept, subscribers)
        # Byte for byte as they were received.
        stored_validators = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        validators = {name: value for name, value in stored_validators.items() if _storable(value)}
        limits = TransferLimits(max_bytes or self.config.max_bytes, cut, errors)
        with _telling(trip):
            while True:
                sent = validators if trip.on_first_host else {}
                hop = self._hop(trip, headers | sent, limits, spacing)
                location = refresh_target(hop.body, hop.headers.get("content-type", "")) if follow else ""
                if not follow or (hop.status not in _REDIRECTS and not self._leads_on(trip, hop, location)):
                    return _response(trip, hop, sent, also=() if follow else _REDIRECTS)
                # A page's target counts for a 200 only; for a redirect the header `location` does.
                trip.follow(hop, self.config.max_redirects, location if hop.status == 200 else "")
                spacing = spacing if trip.on_first_host else None

    # A page that leads to itself renews itself and is there to be read; python-insider-blog 16 leads
    # elsewhere.
    def _leads_on(self, trip: _Trip, hop: Answer, location: str) -> bool:
        """Return whether a page leads to another at once, and not back to one of this chain."""
        if hop.status != 200 or not location or trip.hops >= self.config.max_redirects:
            return False
        try:
            return urls.join(trip.url, location) not in trip.seen
        except urls.BadUrl:
            return False

    def post(self, url: str, form: bytes, *, spacing: float | None = None) -> Response:
        """Send a form (application/x-www-form-urlencoded). Returns any 2xx; its body is not read.

        Redirects with 307 and 308 are followed, because they keep the method (RFC 9110, section 15.4). Raises
        FetchError for everything else.
        """
        trip = self._trip(url, None)
        headers = self._headers("*/*", 0) | {"Content-Type": "application/x-www-form-urlencoded"}
        limits = TransferLimits(_MAX_FORM_ANSWER, cut=True)
        with _telling(trip):
            while True:
                hop = self._hop(trip, headers, limits, spacing, form)
                # 301 and 302 make a GET of a POST in most clients, which would lose the form.
                if hop.status not in (307, 308):
                    return _response(trip, hop, {}, also=range(200, 300))
                trip.follow(hop, self.config.max_redirects)
                spacing = spacing if trip.on_first_host else None

    def submit(self, url: str, content: bytes, *, headers: Mapping[str, str], accept: str) -> Response:
        """Send content to a service that its operator trusts, without a pause.

        Returns 200 with a body, or 204.

        No redirect is followed. Raises FetchError for everything else.
        """
        trip = self._trip(url, None)
        with _telling(trip):
            limits = TransferLimits(self.config.max_bytes)
            hop = self._hop(trip, self._headers(accept, 0) | dict(headers), limits, 0.0, content)
            return _response(trip, hop, {}, also={204})

    def _trip(self, url: str, deadline: float | None) -> _Trip:
        started = time.monotonic()
        allowance = Allowance(started + (deadline or self.config.deadline), self.config.silence)
        return _Trip(url, started, allowance, set())

    def _hop(
        self,
        trip: _Trip,
        headers: dict[str, str],
        limits: TransferLimits,
        spacing: float | None,
        form: bytes | None = None,
    ) -> Answer:
        """Send one request to one origin."""
        if not trip.seen:
            # In the trip, not before it: a bad address is then told with the trip's times, as any failure.
            trip.url = urls.canonical_url(trip.url)
            trip.seen.add(trip.url)
        url, allowance = trip.url, trip.allowance
        parts = urlsplit(url)  # of a canonical URL, which every parser reads alike
        target: Target = (parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme])
        own_path = url[url.index("/", 8) :]
        path = url if self._connections.needs_absolute_form(target) else own_path
        if cookie := trip.cookies.header(urls.host_key(url)):
            headers = headers | {"Cookie": cookie}
        method, all_headers = "GET" if form is None else "POST", {"Host": parts.netloc} | headers
        lines = (f"{name}: {value}" for name, value in all_headers.items())
        trip.request = "\r\n".join([f"{method} {own_path} HTTP/1.1", *lines])  # as urllib3 writes it
        # Behind `trip.request`, which is kept with copies: no secret stands in it.
        headers = headers | self._connections.proxy_headers(target) | self._login(url, cookie)
        # A crowded host's turn must not look like a slow server: `elapsed` decides about pauses.
        queued_at = time.monotonic()
        with self._gate.turn(urls.host_key(url), allowance.deadline, spacing):
            trip.waited += time.monotonic() - queued_at
            exchange = Exchange(target, path, allowance, limits)
            return self._session.exchange(GuardedRequest(url, headers, form, exchange))

    def _login(self, url: str, cookie: str) -> dict[str, str]:
        """Return the headers of logins for a URL. They are no part of the request as it is kept in copies."""
        headers = headers_for(url, self._logins)
        for name in headers:
            # A login's cookie stands beside the site's own in one header (miniflux 1455).
            if name.lower() == "cookie" and cookie:
                headers = {**headers, name: f"{headers[name]}; {cookie}"}
        return headers

    def _headers(self, accept: str, subscribers: int) -> dict[str, str]:
        """Return the headers of every hop: no Referer, nothing that defeats caches, and no cookies but those
        of one chain (`crawler.fetching.http.cookies`).
        """
        return {
            "User-Agent": _user_agent(self.config.user_agent, subscribers),
            "Accept": accept,
            "Accept-Encoding": ACCEPTED,
        }


_PORTS = {"http": 80, "https": 443}


def _user_agent(product: str, subscribers: int) -> str:
    """Return a User-Agent in the form from which publishers count readers.

    An example is `Freshet/1.0 (+https://example.org/bot; 12 subscribers)`.
    """
    if subscribers < 1:
        return product
    if product.endswith(")"):
        return f"{product[:-1]}; {subscribers} subscribers)"
    return f"{product} ({subscribers} subscribers)"


def _storable(value: str) -> str:
    """Return a validator that a header and a database can carry, else an empty text."""
    return "" if len(value) > _MAX_VALIDATOR or _NOT_OF_A_HEADER.search(value) else value


def location_of(headers: Mapping[str, str]) -> str:
    """Return the target of a redirect as written there: headers arrive as Latin-1, many mean UTF-8."""
    # http.client decodes headers as Latin-1, where many servers send the raw UTF-8 of a path.
    value = headers.get("location", "").strip()
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def _response(trip: _Trip, hop: Answer, sent: Mapping[str, str], *, also: Container[int] = ()) -> Response:
    """Build the Response from a trip's last hop; statuses in `also` count as success.

    Raises FetchError when the status is a failure.
    """
    headers = hop.headers
    now = time.time()
    retry_after = freshness.retry_after(headers, now)
    # Without validators there is nothing that could be unchanged; taken as a success the feed would stay
    # empty.
    if hop.status == 304 and not sent:
        raise FetchError(Failure.PROTOCOL, "304 to a request without validators", status=304)
    repeated = sent if hop.status == 304 else {}
    response = Response(
        status=hop.status,
        url=trip.url,
        headers=headers,
        body=hop.body,
        moved_to=trip.url if trip.hops and trip.permanent else "",
        downgraded=trip.downgraded,
        hops=trip.hops,
        wire_bytes=trip.allowance.received,
        elapsed=trip.elapsed,
        conditional=bool(sent),
        # A 304 may leave its validators out; those that were sent hold on, and renewed ones win.
        etag=_storable(headers.get("etag", "")) or repeated.get("If-None-Match", ""),
        last_modified=_storable(headers.get("last-modified", "")) or repeated.get("If-Modified-Since", ""),
        content_type=headers.get("content-type", ""),
        retry_after=retry_after,
        max_age=freshness.max_age(headers, now),
        request=trip.request,
        status_line=hop.status_line,
    )
    if hop.status not in (200, 226, 304) and hop.status not in also:
        kind = of_response(
            hop.status,
            retry_after="retry-after" in headers,
            # Cloudflare names its challenge by this header; the status alone is that of any refusal.
            challenged=headers.get("cf-mitigated", "").strip().lower() == "challenge",
        )
        error = FetchError(kind, status=hop.status, retry_after=retry_after)
        error.response = response
        raise error
    return response


@contextmanager
def _telling(trip: _Trip) -> Iterator[None]:
    """Raise errors of the block as FetchError, with what is known of the trip."""
    try:
        yield
    except (urls.BadUrl, FetchError) as error:
        failure = error if isinstance(error, FetchError) else FetchError(error.kind, str(error))
        failure.url = failure.url or trip.url
        failure.hops, failure.elapsed, failure.bytes = trip.hops, trip.elapsed, trip.allowance.received
        raise failure from (error.__cause__ if failure is error else error)
