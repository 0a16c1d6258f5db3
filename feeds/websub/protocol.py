"""The WebSub protocol: the form, the signature, the length of leases. Pure.

Source: W3C Recommendation "WebSub", 23 January 2018; section numbers refer to it.
"""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import urlencode

LEASE_SECONDS = 10 * 86_400
"""Lease that we request; the hub decides."""

MAX_LEASE_SECONDS = 365 * 86_400
_METHODS = {
    "sha1": hashlib.sha1,
    "sha256": hashlib.sha256,
    "sha384": hashlib.sha384,
    "sha512": hashlib.sha512,
}


def subscribe_form(callback: str, topic: str, secret: str) -> bytes:
    """Return the body of a subscription request (5.1)."""
    fields = {
        "hub.callback": callback,
        "hub.mode": "subscribe",
        "hub.topic": topic,
        "hub.lease_seconds": str(LEASE_SECONDS),
        "hub.secret": secret,
    }
    return urlencode(fields).encode()


def signed(header: str, secret: str, body: bytes) -> bool:
    """Return whether X-Hub-Signature is the body's HMAC with our secret (8)."""
    method, _, signature = header.strip().partition("=")
    # WebSub allows these four (section 8); an unknown method is as good as no signature.
    maker = _METHODS.get(method.lower())
    if maker is None:
        return False
    expected = hmac.new(secret.encode(), body, maker).hexdigest()
    # In constant time, so that a signature cannot be guessed letter by letter.
    return hmac.compare_digest(expected.encode(), signature.strip().lower().encode())


def lease_seconds(text: str) -> float:
    """Return the lease that a hub grants, in seconds. Returns LEASE_SECONDS for an unusable value (5.3)."""
    # A lease of a thousand years would never be renewed.
    granted = float(text) if text.isascii() and text.isdecimal() and len(text) < 12 else 0.0
    return min(granted or LEASE_SECONDS, MAX_LEASE_SECONDS)


def renew_after(lease: float) -> float:
    """Return the seconds after which to renew a lease: three quarters of it, at least ten minutes."""
    # A hub may grant seconds; renewing is a request to it each time.
    return max(0.75 * lease, 600.0)


def retry_after(attempts: int) -> float:
    """Return the seconds before repeating a refused or unconfirmed request: an hour, doubling to a day."""
    return min(3600.0 * 2.0 ** max(attempts - 1, 0), 86_400.0)
