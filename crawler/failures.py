"""The failures of a retrieval, with one name each for the crawler, the database and its readers."""

from __future__ import annotations

from enum import Enum, StrEnum

from crawler.text.marking import gettext_noop


class Failure(StrEnum):
    """A kind of failure: its name, a sentence for people, and whether the cause is likely on our side."""

    explanation: str
    ours: bool

    def __new__(cls, name: str, explanation: str = "", ours: bool = False) -> Failure:
        member = str.__new__(cls, name)
        member._value_ = name
        member.explanation = explanation
        member.ours = ours
        return member

    DNS = "dns", gettext_noop("The host name could not be resolved to an address."), True
    REFUSED = (
        "refused",
        gettext_noop("The server's machine refused the connection; no web server listens there."),
        True,  # as firewalls do, too: a gateway that rejects everything looks like this from every host
    )
    UNREACHABLE = "unreachable", gettext_noop("The network found no way to the server."), True
    RESET = "reset", gettext_noop("The server closed the connection before it had answered.")
    TIMEOUT = "timeout", gettext_noop("The server was silent for too long."), True
    TOO_SLOW = (
        "too-slow",
        gettext_noop("The whole answer did not arrive within the time allowed for one retrieval."),
    )
    TLS = (
        "tls",
        gettext_noop("No secure connection: the certificate or the TLS handshake was not acceptable."),
    )
    PROXY = "proxy", gettext_noop("The configured proxy could not be reached or refused the request."), True
    HTTP_4XX = (
        "http-4xx",
        gettext_noop("The server says that this request is wrong or the document is not there."),
    )
    HTTP_5XX = "http-5xx", gettext_noop("The server says that it failed to answer.")
    HTTP_OTHER = "http-other", gettext_noop("The server answered with a status that carries no document.")
    GONE = "gone", gettext_noop("The server says that the document is gone for good (410).")
    THROTTLED = (
        "throttled",
        gettext_noop("The server asks for fewer requests, or keeps robots away with a challenge."),
    )
    TOO_LARGE = "too-large", gettext_noop("The document is larger than the allowed size.")
    TRUNCATED = "truncated", gettext_noop("The connection ended in the middle of the document.")
    REDIRECT = "redirect", gettext_noop("The redirects go in a circle, are too many, or lead nowhere.")
    BLOCKED_ADDRESS = (
        "blocked-address",
        gettext_noop("The host is at a private or special address, which is not allowed."),
    )
    BLOCKED_PORT = (
        "blocked-port",
        gettext_noop("The port belongs to another service than the web and is not allowed."),
    )
    BAD_URL = "bad-url", gettext_noop("The address is not a valid URL.")
    BAD_SCHEME = "bad-scheme", gettext_noop("Only http and https addresses can be retrieved.")
    ROBOTS = (
        "robots",
        gettext_noop(
            "The site's robots.txt does not allow retrieving this, or the page does not allow showing it."
        ),
    )
    PROTOCOL = (
        "protocol",
        gettext_noop("The answer was not valid HTTP, or its headers were too many or too big."),
    )
    DECODING = "decoding", gettext_noop("The document's compression is damaged or unknown.")
    NOT_A_FEED = "not-a-feed", gettext_noop("The document is not a feed.")
    MALFORMED = "malformed", gettext_noop("The document is so damaged that nothing could be read from it.")
    TOO_DEEP = "too-deep", gettext_noop("The document is nested too deeply to be read safely.")
    TOO_COSTLY = "too-costly", gettext_noop("Reading the document took more time or memory than is allowed.")
    UNSTORABLE = "unstorable", gettext_noop("What was read cannot be stored.")
    UNSUPPORTED_TYPE = "unsupported-type", gettext_noop("The document is of a type that is not read here.")
    PART_MISSING = "part-missing", gettext_noop("The chosen part is not in the document.")
    ENTITIES = "entities", gettext_noop("The document declares entities of its own, which is refused in RDF.")
    BUSY = (
        "busy",
        gettext_noop("Other requests to this host took all the time that was allowed for waiting."),
        True,
    )
    STEP = "step", gettext_noop("A step could not be performed on the page in the browser.")
    NO_BROWSER = "no-browser", gettext_noop("No browser is installed where pages are opened."), True
    LOST = "lost", gettext_noop("The worker that had taken this retrieval never answered."), True

    @classmethod
    def of(cls, label: str) -> Failure:
        """Return the kind of a label such as `http-404` or `dns`. Raises ValueError for an unknown label."""
        code = label.removeprefix("http-")
        return _of_status(int(code)) if code != label and code.isdecimal() else cls(label)


def _of_status(status: int) -> Failure:
    return {4: Failure.HTTP_4XX, 5: Failure.HTTP_5XX}.get(status // 100, Failure.HTTP_OTHER)


def of_response(status: int, *, retry_after: bool, challenged: bool) -> Failure:
    """Return the failure that a final HTTP status means.

    `retry_after` says whether that header was present: it turns a 503 from a fault into a request for
    patience (RFC 9110 section 10.2.3). `challenged` says whether `cf-mitigated: challenge` was.
    """
    if status == 410:
        return Failure.GONE
    if status == 429 or (status == 503 and retry_after) or (status == 403 and challenged):
        return Failure.THROTTLED
    return _of_status(status)


class Retry(Enum):
    """The time when another attempt may succeed."""

    SOON = "within minutes, without anybody's doing"
    THROTTLED = "when the server has had its rest"
    LATER = "in hours or days, if somebody mends the server or the document"
    NEVER = "not at all"


_RETRIES = {
    Retry.SOON: (
        Failure.DNS, Failure.REFUSED, Failure.UNREACHABLE, Failure.RESET, Failure.TIMEOUT, Failure.TOO_SLOW,
        Failure.PROXY, Failure.HTTP_5XX, Failure.TRUNCATED, Failure.PROTOCOL, Failure.BUSY,
    ),
    Retry.THROTTLED: (Failure.THROTTLED,),
    Retry.LATER: (
        Failure.TLS, Failure.HTTP_4XX, Failure.HTTP_OTHER, Failure.DECODING, Failure.NOT_A_FEED,
        Failure.MALFORMED, Failure.TOO_COSTLY, Failure.ENTITIES, Failure.STEP, Failure.NO_BROWSER,
        Failure.LOST, Failure.PART_MISSING,
    ),
    Retry.NEVER: (
        Failure.GONE, Failure.TOO_LARGE, Failure.REDIRECT, Failure.BLOCKED_ADDRESS, Failure.BLOCKED_PORT,
        Failure.BAD_URL, Failure.BAD_SCHEME, Failure.ROBOTS, Failure.TOO_DEEP, Failure.UNSTORABLE,
        Failure.UNSUPPORTED_TYPE,
    ),
}  # fmt: skip
RETRY = {failure: retry for retry, failures in _RETRIES.items() for failure in failures}
"""For each kind of failure when another attempt may succeed; `retry_of` also looks at the status."""
FINAL_STATUSES = frozenset({400, 401, 402, 404, 405, 406, 451})


def retry_of(label: str, status: int) -> Retry:
    """Return when another attempt may succeed after a failure with this label and HTTP status (0: none).

    A robots.txt that cannot be read because the server fails forbids everything for now only (RFC 9309,
    section 2.3.1.4). Raises ValueError for an unknown label.
    """
    kind = Failure.of(label)
    if kind is Failure.ROBOTS and status >= 500:
        return Retry.SOON
    return Retry.NEVER if status in FINAL_STATUSES else RETRY[kind]


class FetchError(Exception):
    """A retrieval that failed, with what is known of it.

    `status` is the HTTP status or 0, `retry_after` seconds, `hops` the redirects followed,
    `elapsed` seconds since the retrieval began, `bytes` what came over the wire, `response` the
    client's Response where there was an answer.
    """

    def __init__(
        self,
        kind: Failure,
        detail: str = "",
        *,
        status: int = 0,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail
        self.url = ""
        self.status = status
        self.retry_after = retry_after
        self.hops = 0
        self.elapsed = 0.0
        self.bytes = 0
        self.response: object | None = None

    @property
    def label(self) -> str:
        """The name to store: `http-404` for plain HTTP failures, else the kind."""
        plain = self.kind in (Failure.HTTP_4XX, Failure.HTTP_5XX, Failure.HTTP_OTHER)
        return f"http-{self.status}" if plain and self.status else self.kind.value

    def __str__(self) -> str:
        return ": ".join(part for part in (self.url, self.label, self.detail) if part)
