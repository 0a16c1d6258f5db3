"""The key with which this deployment signs what it sends to push services (VAPID, RFC 8292)."""

from __future__ import annotations

import base64
from functools import cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.utils.crypto import salted_hmac

_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of the curve P-256."""


@cache
def _key(secret_key: str) -> ec.EllipticCurvePrivateKey:
    """Derive the key from the deployment's secret, so that all machines have the same and none is stored."""
    digest = salted_hmac("crawler.notices", "push", secret=secret_key, algorithm="sha512").digest()
    return ec.derive_private_key(int.from_bytes(digest) % (_ORDER - 1) + 1, ec.SECP256R1())


def private_key() -> str:
    """Return the private key as pywebpush takes it: base64url of its number."""
    number = _key(settings.SECRET_KEY).private_numbers().private_value
    return base64.urlsafe_b64encode(number.to_bytes(32)).rstrip(b"=").decode()


def public_key() -> str:
    """Return the public key as browsers take it: base64url of the uncompressed point."""
    point = (
        _key(settings.SECRET_KEY)
        .public_key()
        .public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    )
    return base64.urlsafe_b64encode(point).rstrip(b"=").decode()


def contact() -> str:
    """Return the address that push services may write to about this deployment."""
    return settings.PUBLIC_URL if settings.PUBLIC_URL.startswith("https://") else "mailto:freshet@localhost"
