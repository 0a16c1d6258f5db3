"""Encryption of addresses that hold passwords and tokens, with a key that follows from SECRET_KEY."""

from __future__ import annotations

import base64
import re
from functools import cache

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.utils.crypto import salted_hmac

from crawler.text.marking import gettext_noop

_TELLING = re.compile(r"(?<=[:/@=?&+.-])[^:/@=?&.]{4,}(?=[:/@?&]|$)")


class UnreadableError(ValueError):
    """Error for a text that was encrypted with another SECRET_KEY."""


@cache
def _cipher(secret_key: str) -> Fernet:
    digest = salted_hmac("crawler.notices", "addresses", secret=secret_key, algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def seal(text: str) -> str:
    """Encrypt a text."""
    return _cipher(settings.SECRET_KEY).encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Decrypt a text. Raises UnreadableError."""
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        try:
            return _cipher(key).decrypt(sealed.encode()).decode()
        except InvalidToken:
            continue
    raise UnreadableError(gettext_noop("it was stored under another SECRET_KEY: give it again"))


def masked(address: str) -> str:
    """Return an address with most of each part hidden: "ntfy://…/my…"."""
    scheme, sign, secret_part = address.partition("://")
    return (
        f"{scheme}{sign}{_TELLING.sub(lambda part: f'{part[0][:2]}…', '/' + secret_part)[1:]}"
        if sign
        else scheme
    )
