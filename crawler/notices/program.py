"""The program that sends one message to one target, in a process without database, secret key and files.

Every connection goes through the address guard, whatever library makes it; the process ends at its deadline.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import msgspec

from crawler.fetching.http.addresses import AddressGuard
from crawler.fetching.sandboxed.programs import SENDING
from crawler.isolation.calls import register
from crawler.notices import hub_requests
from crawler.notices.posting import CONNECT_SECONDS, TOO_SLOW, SendOutcome
from crawler.notices.targets import KINDS
from crawler.text.marking import gettext_noop
from crawler.text.reasons import packed

SEND = "send-notice"


class RefusedError(OSError):
    """Error for a connection to an address that is not allowed."""


def send(request: dict[str, Any], body: bytes) -> bytes:
    """Send the message in the body, which is JSON. Returns the outcome as MessagePack."""
    guard_sockets(AddressGuard(request["allowed_networks"]))
    outcome = outcome_of(json.loads(body))
    outcome.detail = packed(outcome.detail)
    return msgspec.msgpack.encode(outcome)


def outcome_of(message: dict[str, Any]) -> SendOutcome:
    """Send a message. Whatever its target does becomes an outcome."""
    try:
        return _SENDERS[message["kind"]](message)
    except MemoryError:
        return SendOutcome("failed", "its answer takes more memory than is allowed")
    except TimeoutError:
        return SendOutcome("failed", TOO_SLOW)
    except Exception as error:  # nothing says what libraries raise on what a target answers
        if type(error).__name__ in {"ReadTimeout", "ConnectTimeout"}:  # of requests, which is loaded late
            return SendOutcome("failed", TOO_SLOW)
        refused = _refusal(error)
        return SendOutcome("failed", str(refused) if refused else f"{type(error).__name__}: {error}"[:300])


def guard_sockets(guard: AddressGuard) -> None:
    """Let no socket of this process reach an address that the guard does not permit."""

    def check(address: Any) -> None:
        if not isinstance(address, tuple) or not guard.permits(str(address[0])):
            raise RefusedError(
                gettext_noop("its address is inside a private network, which this deployment does not ask")
            )

    def checked(method: Callable[..., Any], at: int) -> Callable[..., Any]:
        def call(self: socket.socket, *values: Any) -> Any:
            check(values[at])
            return method(self, *values)

        return call

    for name, at in (("connect", 0), ("connect_ex", 0), ("sendto", -1)):
        setattr(socket.socket, name, checked(getattr(socket.socket, name), at))
    socket.setdefaulttimeout(CONNECT_SECONDS)


def _refusal(error: BaseException | None) -> RefusedError | None:
    """Return the guard's refusal among the causes of an error."""
    depth = 0
    while error is not None and depth < 10:
        if isinstance(error, RefusedError):
            return error
        for word in error.args:
            if isinstance(word, BaseException) and (refusal := _refusal(word)):
                return refusal
            if isinstance(reason := getattr(word, "reason", None), BaseException) and (
                refusal := _refusal(reason)
            ):
                return refusal
        error, depth = error.__cause__ or error.__context__, depth + 1
    return None


_SENDERS: dict[str, Callable[[dict[str, Any]], SendOutcome]] = {
    **{key: kind.send for key, kind in KINDS.items() if kind.is_isolated},
    **hub_requests.REQUESTS,
}
register(SEND, send, SENDING)
