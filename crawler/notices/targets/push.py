"""Push messages to a browser, which makes the target by itself (Push API)."""

from __future__ import annotations

import json
from typing import Any

from crawler.notices.posting import CONNECT_SECONDS, SendOutcome
from crawler.notices.targets.base import AddressError, TargetKind, part_of
from crawler.text.marking import gettext_noop, pgettext
from crawler.text.reasons import Reason


class PushTarget(TargetKind):
    """A browser on a device. When it is gone it gives a new address as soon as it is asked again."""

    key = "push"
    title = pgettext("kind of target", "this device")
    is_deleted_when_gone = True

    def address_of(self, values: dict[str, Any]) -> tuple[str, str]:
        """Return the address in a PushSubscription, and the name that came with it. Raises AddressError."""
        try:
            address: dict[str, Any] = {
                "endpoint": str(values["endpoint"]),
                "keys": {k: str(values["keys"][k]) for k in ("p256dh", "auth")},
            }
        except (KeyError, TypeError):
            raise AddressError("no PushSubscription") from None
        if not address["endpoint"].startswith("https://"):
            raise AddressError("its endpoint is no https address")
        return json.dumps(address), str(values.get("name") or "")

    def shown(self, address: str) -> str:
        """Return the address of the push service."""
        return part_of(address, "endpoint")

    def more_facts(self) -> dict[str, Any]:
        """Return the key that signs, and who signs."""
        from crawler.notices import push  # noqa: PLC0415 - not in the process without settings

        return {"push_key": push.private_key(), "contact": push.contact()}

    def send(self, message: dict[str, Any]) -> SendOutcome:
        """Send the message, encrypted for the browser, to its push service."""
        from pywebpush import WebPushException, webpush  # noqa: PLC0415 - only where it is used

        body = {
            "title": message["title"],
            "text": message["text"][:1000],
            "url": message["link"],
            "id": message["uid"],
        }
        try:
            webpush(
                json.loads(message["address"]),
                json.dumps(body, ensure_ascii=False).encode(),
                vapid_private_key=message["push_key"],
                vapid_claims={"sub": message["contact"]},
                ttl=86_400,
                timeout=CONNECT_SECONDS,
            )
        except WebPushException as error:
            status = error.response.status_code if error.response is not None else 0
            if status in {404, 410}:
                return SendOutcome("gone", gettext_noop("the device does not want notifications any more"))
            return SendOutcome(
                "failed", Reason("the push service answers {0}", status) if status else str(error)[:300]
            )
        return SendOutcome("sent")
