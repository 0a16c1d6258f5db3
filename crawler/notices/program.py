"""The program that sends one message to one target, in a process without database, secret key and files.

Every connection goes through the address guard, whatever library makes it; the process ends at its deadline.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from crawler.fetching.http.addresses import AddressGuard
from crawler.fetching.http.guarded_sockets import RefusedError, guard_sockets
from crawler.fetching.sandboxed.programs import SENDING
from crawler.isolation.calls import register
from crawler.notices import hub_requests
from crawler.notices.posting import TOO_SLOW, SendOutcome
from crawler.notices.targets import KINDS
from crawler.text.reasons import packed

SEND = "send-notice"


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
