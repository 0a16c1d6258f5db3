"""Webhooks: programs that get messages as signed JSON."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from typing import Any
from urllib.parse import urlsplit

from crawler.notices.posting import SendOutcome, post
from crawler.notices.targets.base import AddressError, AddressField, TargetKind, part_of
from crawler.text.marking import gettext_noop, pgettext


class WebhookTarget(TargetKind):
    """A program at a web address, with a secret that signs what is sent to it."""

    key = "webhook"
    title = pgettext("kind of target", "a program (webhook)")
    fields = (
        AddressField(
            "webhook",
            gettext_noop("Web address"),
            2000,
            note="For a program: its web address.",
            is_url=True,
        ),
    )
    hint = gettext_noop("It gets each message as JSON, signed with a secret that is shown once.")

    def address_of(self, values: dict[str, Any]) -> tuple[str, str]:
        """Return the web address with a new secret, and its host. Raises AddressError."""
        address = values.get("webhook", "")
        if not address:
            raise AddressError(gettext_noop("Give its web address."))
        parcel = {"url": address, "secret": secrets.token_urlsafe(24)}
        return json.dumps(parcel), urlsplit(address).hostname or address

    def shown(self, address: str) -> str:
        """Return the web address."""
        return part_of(address, "url")

    def secret_of(self, address: str) -> str:
        """Return the secret that signs."""
        return str(json.loads(address)["secret"])

    def send(self, message: dict[str, Any]) -> SendOutcome:
        """Send the message and all facts about it."""
        target = json.loads(message["address"])
        body = json.dumps(message["body"], ensure_ascii=False).encode()
        stamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "Idempotency-Key": message["uid"],
            "X-Freshet-Id": message["uid"],
            "X-Freshet-Timestamp": stamp,
            "X-Freshet-Signature": signature(target.get("secret", ""), stamp, body),
        }
        return post(target["url"], message, data=body, headers=headers)


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return what a webhook's receiver compares: HMAC-SHA256 over the time, a dot, and the body."""
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"
