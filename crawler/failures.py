"""The failures of a retrieval: one code each for the crawler and the database, and the words for people."""

from __future__ import annotations

from enum import Enum, StrEnum

from crawler.text.marking import gettext_noop

_WAIT = gettext_noop("Nothing to do: Freshet tries again, later after each failure, at least once a day.")
_PUBLISHER = gettext_noop("Only its publisher can mend it. Freshet goes on trying.")


class Failure(StrEnum):
    """A kind of failure: its code, and what people are told of it; the one table of these words.

    `short` is its name, `words` are what stands in a list ("its server is too slow"), `explanation` is a
    sentence, `advice` what a person can do. `ours` says that the cause is likely on our side.
    """

    short: str
    words: str
    explanation: str
    advice: str
    ours: bool

    def __new__(
        cls, code: str, short: str = "", words: str = "", explanation: str = "", *extras: str | bool
    ) -> Failure:
        member = str.__new__(cls, code)
        member._value_ = code
        member.short, member.words, member.explanation = short, words, explanation
        member.advice = next((str(each) for each in extras if isinstance(each, str)), _WAIT)
        member.ours = True in extras
        return member

    # fmt: off
    DNS = ("dns", "DNS", gettext_noop("its address is not known on the internet"),
        gettext_noop("The host name could not be resolved to an address."),
        gettext_noop("The site may have moved or ended: look for its new address."), True)
    REFUSED = ("refused", gettext_noop("refused"), gettext_noop("no answer"),
        gettext_noop("The server's machine refused the connection; no web server listens there."), True)
    UNREACHABLE = ("unreachable", gettext_noop("unreachable"), gettext_noop("no way to its server"),
        gettext_noop("The network found no way to the server."), True)
    RESET = ("reset", gettext_noop("reset"), gettext_noop("its server breaks off"),
        gettext_noop("The server closed the connection before it had answered."))
    TIMEOUT = ("timeout", gettext_noop("timeout"), gettext_noop("no answer"),
        gettext_noop("The server was silent for too long."), True)
    TOO_SLOW = ("too-slow", gettext_noop("too slow"), gettext_noop("its server is too slow"),
        gettext_noop("The whole answer did not arrive within the time allowed for one retrieval."))
    TLS = ("tls", "TLS", gettext_noop("its certificate is not valid"),
        gettext_noop("No secure connection: the certificate or the TLS handshake was not acceptable."),
        _PUBLISHER)
    PROXY = ("proxy", gettext_noop("proxy"), gettext_noop("Freshet's own proxy does not answer"),
        gettext_noop("The configured proxy could not be reached or refused the request."),
        gettext_noop("Look at the proxy that the settings name."), True)
    HTTP_4XX = ("http-4xx", "HTTP 4xx", gettext_noop("its server refuses the request"),
        gettext_noop("The server says that this request is wrong or the document is not there."),
        gettext_noop("Look whether the feed has another address now."))
    HTTP_5XX = ("http-5xx", "HTTP 5xx", gettext_noop("its server has a fault"),
        gettext_noop("The server says that it failed to answer."))
    HTTP_OTHER = ("http-other", "HTTP other", gettext_noop("its server answers with nothing to read"),
        gettext_noop("The server answered with a status that carries no document."), _PUBLISHER)
    GONE = ("gone", gettext_noop("gone"), gettext_noop("ended by its publisher"),
        gettext_noop("The server says that the document is gone for good (410)."),
        gettext_noop("Remove it, or keep it for its articles."))
    THROTTLED = ("throttled", gettext_noop("throttled"), gettext_noop("its server asks for a break"),
        gettext_noop("The server asks for fewer requests, or keeps robots away with a challenge."),
        gettext_noop("Nothing to do: Freshet waits as long as it is asked to."))
    TOO_LARGE = ("too-large", gettext_noop("too large"), gettext_noop("it is too large to read"),
        gettext_noop("The document is larger than the allowed size."),
        gettext_noop("Its publisher may have a shorter feed; FETCH_MAX_BYTES allows larger ones."))
    TRUNCATED = ("truncated", gettext_noop("truncated"), gettext_noop("its server sends only a part"),
        gettext_noop("The connection ended in the middle of the document."))
    REDIRECT = ("redirect", gettext_noop("redirect"), gettext_noop("its address leads in a circle"),
        gettext_noop("The redirects go in a circle, are too many, or lead nowhere."),
        gettext_noop("Look whether the feed has another address now."))
    BLOCKED_ADDRESS = ("blocked-address", gettext_noop("blocked address"),
        gettext_noop("its address is inside a private network"),
        gettext_noop("The host is at a private or special address, which is not allowed."),
        gettext_noop("If the network is yours, allow it in FETCH_ALLOWED_NETWORKS."))
    BLOCKED_PORT = ("blocked-port", gettext_noop("blocked port"),
        gettext_noop("its address is not that of a web server"),
        gettext_noop("The port belongs to another service than the web and is not allowed."),
        gettext_noop("Look whether the feed has another address."))
    BAD_URL = ("bad-url", gettext_noop("bad url"), gettext_noop("its address is not valid"),
        gettext_noop("The address is not a valid URL."), gettext_noop("Correct the address."))
    BAD_SCHEME = ("bad-scheme", gettext_noop("bad scheme"), gettext_noop("its address is not one of the web"),
        gettext_noop("Only http and https addresses can be retrieved."), gettext_noop("Correct the address."))
    ROBOTS = ("robots", "robots.txt", gettext_noop("the site does not want programs to read it"),
        gettext_noop(
            "The site's robots.txt does not allow retrieving this, or the page does not allow showing it."
        ),
        gettext_noop("Nothing to do: the site has to allow it."))
    PROTOCOL = ("protocol", gettext_noop("protocol"), gettext_noop("its server's answer makes no sense"),
        gettext_noop("The answer was not valid HTTP, or its headers were too many or too big."), _PUBLISHER)
    DECODING = ("decoding", gettext_noop("decoding"), gettext_noop("its server's answer is damaged"),
        gettext_noop("The document's compression is damaged or unknown."), _PUBLISHER)
    NOT_A_FEED = ("not-a-feed", gettext_noop("not a feed"), gettext_noop("this is a page, not a feed"),
        gettext_noop("The document is not a feed."),
        gettext_noop("Look for its feed on the site, or watch the page."))
    MALFORMED = ("malformed", gettext_noop("malformed"), gettext_noop("it is too damaged to read"),
        gettext_noop("The document is so damaged that nothing could be read from it."), _PUBLISHER)
    TOO_DEEP = ("too-deep", gettext_noop("too deep"),
        gettext_noop("it is built in a way that cannot be read safely"),
        gettext_noop("The document is nested too deeply to be read safely."), _PUBLISHER)
    TOO_COSTLY = ("too-costly", gettext_noop("too costly"), gettext_noop("reading it takes too long"),
        gettext_noop("Reading the document took more time or memory than is allowed."), _PUBLISHER)
    UNSTORABLE = ("unstorable", gettext_noop("unstorable"), gettext_noop("its text cannot be stored"),
        gettext_noop("What was read cannot be stored."), _PUBLISHER)
    UNSUPPORTED_TYPE = ("unsupported-type", gettext_noop("unsupported type"),
        gettext_noop("it is no kind of document that is read here"),
        gettext_noop("The document is of a type that is not read here."),
        gettext_noop("Look for its feed on the site."))
    PART_MISSING = ("part-missing", gettext_noop("part missing"),
        gettext_noop("the chosen part is not on the page any more"),
        gettext_noop("The chosen part is not in the document."),
        gettext_noop("Open the page and choose the part again."))
    LIST_MISSING = ("list-missing", gettext_noop("list missing"),
        gettext_noop("the list of articles is not on the page any more"),
        gettext_noop("The page no longer has the list that its articles were taken from."),
        gettext_noop("Open the page's lists and choose one again."))
    ENTITIES = ("entities", gettext_noop("entities"),
        gettext_noop("it is built in a way that is not allowed"),
        gettext_noop("The document declares entities of its own, which is refused in RDF."), _PUBLISHER)
    BUSY = ("busy", gettext_noop("busy"), gettext_noop("its server is busy with other requests"),
        gettext_noop("Other requests to this host took all the time that was allowed for waiting."), True)
    STEP = ("step", gettext_noop("step"), gettext_noop("a step on its page cannot be performed"),
        gettext_noop("A step could not be performed on the page in the browser."),
        gettext_noop("Look whether the page has changed, and correct the steps."))
    NO_BROWSER = ("no-browser", gettext_noop("no browser"), gettext_noop("Freshet has no browser to open it"),
        gettext_noop("No browser is installed where pages are opened."),
        gettext_noop("Install Chromium and Playwright on Freshet's machine."), True)
    LOST = ("lost", gettext_noop("lost"), gettext_noop("reading it broke off"),
        gettext_noop("The worker that had taken this retrieval never answered."), True)
    # fmt: on

    @classmethod
    def of(cls, label: str) -> Failure:
        """Return the kind of a label such as `http-404` or `dns`. Raises ValueError for an unknown label."""
        code = label.removeprefix("http-")
        return _of_status(int(code)) if code != label and code.isdecimal() else cls(label)


STATUS_WORDS = {
    401: (
        gettext_noop("it asks for a password"),
        gettext_noop("It asks for a login: give one under Tools, Logins."),
    ),
    403: (
        gettext_noop("its server refuses Freshet"),
        gettext_noop("Its publisher keeps programs out. Freshet goes on trying."),
    ),
    404: (gettext_noop("not found"), ""),
    410: (gettext_noop("ended by its publisher"), ""),
}
"""For statuses that people know: the words, and the advice or "" for that of the kind."""


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
        Failure.LOST, Failure.PART_MISSING, Failure.LIST_MISSING,
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
    client's Response if there was an answer.
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
