"""What WebSub says on the wire: the form, the signature, the length of leases. Pure.

Source: W3C Recommendation "WebSub", 23 January 2018; section numbers are its.
"""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import urlencode

LEASE_SECONDS = 10 * 86_400
"""What we ask for; the hub decides."""

LONGEST_LEASE = 365 * 86_400
_METHODS = {
    "sha1": hashlib.sha1,
    "sha256": hashlib.sha256,
    "sha384": hashlib.sha384,
    "sha512": hashlib.sha512,
}


def subscribe_form(callback: str, topic: str, secret: str) -> bytes:
    """The body of a subscription request (5.1)."""
    fields = {
        "hub.callback": callback,
        "hub.mode": "subscribe",
        "hub.topic": topic,
        "hub.lease_seconds": str(LEASE_SECONDS),
        "hub.secret": secret,
    }
    return urlencode(fields).encode()


def signed(header: str, secret: str, body: bytes) -> bool:
    """Whether X-Hub-Signature is the body's HMAC with our secret (8)."""
    method, _, given = header.strip().partition("=")
    maker = _METHODS.get(method.lower())
    if maker is None:
        return False
    expected = hmac.new(secret.encode(), body, maker).hexdigest()
    return hmac.compare_digest(expected.encode(), given.strip().lower().encode())


def lease_seconds(text: str) -> float:
    """The lease that a hub grants, in seconds; our own wish where it says none that makes sense (5.3)."""
    granted = float(text) if text.isascii() and text.isdecimal() and len(text) < 12 else 0.0
    return min(granted or LEASE_SECONDS, LONGEST_LEASE)


def renew_after(lease: float) -> float:
    """Seconds after which a lease is asked for again: three quarters of it, and not within ten minutes."""
    return max(0.75 * lease, 600.0)


def retry_after(attempts: int) -> float:
    """Seconds until a request that was refused or never confirmed is repeated: an hour, doubling to a day."""
    return min(3600.0 * 2.0 ** max(attempts - 1, 0), 86_400.0)
