"""The exchange of one request and response on one connection, within its allowance, with named errors."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead

from urllib3 import HTTPHeaderDict
from urllib3.exceptions import HTTPError
from urllib3.exceptions import TimeoutError as PoolTimeout
from urllib3.response import HTTPResponse

from crawler.failures import Failure, FetchError
from crawler.fetching.http.connections import Connections, GuardedConnection, Target
from crawler.fetching.http.encodings import decoded
from crawler.fetching.http.wire import Allowance

MAX_HEAD_BYTES = 65536
"""Of one answer's status line and headers, interim 1xx answers included."""

MAX_ERROR_BYTES = 16384
"""Of what a redirect or an error says in a crawl: more is not read."""

_FRAMING_BYTES = 65536
_SMALL_BODY = 16384
_PIECE = 65536


@dataclass(frozen=True, slots=True)
class Answer:
    """The status, headers and decoded body of one hop, and its status line as received.

    The body of a redirect or an error is left out, but where `TransferLimits.errors` asks for its beginning.
    """

    status: int
    headers: HTTPHeaderDict
    body: bytes
    status_line: str = ""


@dataclass(frozen=True, slots=True)
class TransferLimits:
    """The limits of a transfer:

    `max_bytes` of body, on the wire and decoded. With `cut` longer bodies are cut.

    Without `cut` a longer body is an error. With `errors` redirects and errors have bodies, too, of
    MAX_ERROR_BYTES at most.

    With `errors` redirects and errors have bodies, too, of MAX_ERROR_BYTES at most.
    """

    max_bytes: int
    cut: bool = False
    errors: bool = False


def transfer(
    connections: Connections,
    target: Target,
    path: str,
    *,
    headers: Mapping[str, str],
    allowance: Allowance,
    limits: TransferLimits,
    form: bytes | None = None,
) -> Answer:
    """GET `path` from an origin, or POST `form` there. Raises FetchError.

    `path` includes the query, and is an absolute URL where a proxy needs one.
    """
    connection = connections.idle(target, allowance)
    reused = connection is not None
    connection = connection or connections.new(target, allowance)
    received = allowance.received
    try:
        try:
            response = _send(connection, path, headers, allowance, form)
        except (ConnectionError, ssl.SSLEOFError):
            # a server may close an idle connection just as we use it: once more, if nothing came
            if not reused or allowance.received != received:
                raise
            connection.close()
            connection = connections.new(target, allowance)
            try:
                response = _send(connection, path, headers, allowance, form)
            except (ConnectionError, ssl.SSLEOFError):
                connections.distrust(target)
                raise
        received_answer, whole = _receive(response, allowance, limits)
    except BaseException as error:
        connection.close()
        if isinstance(error, (HTTPError, HTTPException, OSError, ValueError)):
            raise _named(error, allowance, connection) from error
        raise
    if (
        whole
        and connection.sock is not None
        and "close" not in response.headers.get("connection", "").lower()
    ):
        connections.keep(target, connection)
    else:
        connection.close()
    return received_answer


def _send(
    connection: GuardedConnection,
    path: str,
    headers: Mapping[str, str],
    allowance: Allowance,
    form: bytes | None,
) -> HTTPResponse:
    """Send the request. Returns the response with its head read."""
    # 5 MB of headers are a row of the table of poisons; http.client bounds each line, not their sum.
    allowance.limit(MAX_HEAD_BYTES, Failure.PROTOCOL)
    connection.timeout = allowance.patience()
    method = "GET" if form is None else "POST"
    connection.request(method, path, body=form, headers=headers, preload_content=False, decode_content=False)
    return connection.getresponse()


def _receive(response: HTTPResponse, allowance: Allowance, limits: TransferLimits) -> tuple[Answer, bool]:
    """Read the response. Returns it, and whether its body was read to the end."""
    headers = response.headers
    length = _body_length(headers)
    # Framing (chunk sizes, trailers) comes on top of the body, so that a body of exactly max_bytes passes.
    allowance.limit(limits.max_bytes + _FRAMING_BYTES, Failure.TOO_LARGE)
    # `version_string` is that of our own request
    line = f"HTTP/{response.version // 10}.{response.version % 10} {response.status} {response.reason or ''}"
    if response.status not in (200, 226):
        if limits.errors and response.status != 304:
            body, whole = _beginning(response, allowance, limits)
            return Answer(response.status, headers, body, line), whole
        return Answer(response.status, headers, b"", line), _skimmed(response, length)
    if length is not None and length > limits.max_bytes and not limits.cut:
        raise FetchError(Failure.TOO_LARGE, f"Content-Length is {length}")
    wire = _pieces(response, allowance)
    content = bytearray()
    for piece in decoded(wire, headers.get("content-encoding", ""), limits.max_bytes):
        # Counted as decoded: 10 MB on the wire may be gigabytes.
        content += piece
        if len(content) > limits.max_bytes:
            if limits.cut:
                return Answer(response.status, headers, bytes(content[: limits.max_bytes]), line), False
            raise FetchError(Failure.TOO_LARGE, f"more than {limits.max_bytes} bytes")
    # Trailing bytes behind a complete gzip stream would be taken for the next answer on this connection.
    return Answer(response.status, headers, bytes(content), line), next(wire, None) is None


def _beginning(response: HTTPResponse, allowance: Allowance, limits: TransferLimits) -> tuple[bytes, bool]:
    """Read the body of an error or a redirect as far as possible. Returns it, and whether it is whole."""
    body = bytearray()
    wire = _pieces(response, allowance)
    try:
        for piece in decoded(wire, response.headers.get("content-encoding", ""), limits.max_bytes):
            body += piece
            if len(body) > MAX_ERROR_BYTES:
                return bytes(body[:MAX_ERROR_BYTES]), False
        return bytes(body), next(wire, None) is None
    # The status is the news; a damaged page of an error must not become another failure.
    except (HTTPError, HTTPException, OSError, FetchError, ValueError):
        return bytes(body[:MAX_ERROR_BYTES]), False


def _skimmed(response: HTTPResponse, length: int | None) -> bool:
    """Read the small body of a redirect or error, to reuse the connection. Returns whether it was whole."""
    # Longer bodies cost more to read than a new connection.
    if response.status != 304 and (length is None or length > _SMALL_BODY):
        return False
    try:
        # A 304 has no body, whatever Content-Length it states (RFC 9110, section 15.4.5).
        return len(response.read1(_SMALL_BODY)) == (length if response.status != 304 else 0)
    except (HTTPError, OSError, FetchError):
        return False


def _pieces(response: HTTPResponse, allowance: Allowance) -> Iterator[bytes]:
    """Yield the body as it arrives. `read` waits for full pieces and would miss the deadline (measured)."""
    while piece := response.read1(_PIECE):
        yield piece
        allowance.patience()


def _body_length(headers: HTTPHeaderDict) -> int | None:
    """Return Content-Length, or None if the body ends by other means. Raises FetchError (protocol).

    This is stricter than the libraries, which accept "-5" or "1_0".
    """
    coding = headers.get("transfer-encoding")
    if coding is not None and coding.strip().lower() != "chunked":
        raise FetchError(Failure.PROTOCOL, f"Transfer-Encoding {coding[:40]!r}")
    values = {value.strip() for value in headers.get("content-length", "").split(",")} - {""}
    if len(values) > 1 or not all(value.isascii() and value.isdecimal() for value in values):
        raise FetchError(Failure.PROTOCOL, "Content-Length is not one number")
    # 18 digits fit 64 bits; a longer number is too large in any case.
    return int(values.pop()[:18]) if values and coding is None else None


def _named(error: BaseException, allowance: Allowance, connection: GuardedConnection) -> FetchError:
    """Return the failure behind an exception of the libraries."""
    # urllib3 wraps the cause several times, and its own messages name the pool instead of the fault.
    while isinstance(error, HTTPError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, FetchError):
        return error
    detail = str(error)[:200] or type(error).__name__
    # Looked at first: at the deadline every layer fails in its own way.
    if allowance.left <= 0:
        return FetchError(Failure.TOO_SLOW, "the time for the whole retrieval is over")
    if connection.through_proxy and "Tunnel connection failed" in detail:
        return FetchError(Failure.PROXY, detail)
    return FetchError(_kind(error), detail)


def _kind(error: BaseException) -> Failure:
    """Return the failure of the first matching line.

    Order matters: some classes are subclasses of later ones.
    """
    table: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], Failure], ...] = (
        ((TimeoutError, PoolTimeout), Failure.TIMEOUT),
        (ssl.SSLError, Failure.TLS),
        (IncompleteRead, Failure.TRUNCATED),
        ((ConnectionResetError, BrokenPipeError, ConnectionAbortedError), Failure.RESET),
        (ConnectionRefusedError, Failure.REFUSED),
        (OSError, Failure.UNREACHABLE),
    )
    return next((kind for types, kind in table if isinstance(error, types)), Failure.PROTOCOL)
