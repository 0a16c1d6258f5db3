"""Requests to other servers, and what became of them; without Django, for processes that have no settings."""

from __future__ import annotations

from typing import Any

import msgspec

from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason

MAX_ANSWER_BYTES = 4096
TOO_SLOW = gettext_noop("it did not answer in time")
CONNECT_SECONDS = 10.0


class SendOutcome(msgspec.Struct):
    """The end of sending: `state` is sent, failed or gone (for good); `wait` in seconds."""

    state: str
    detail: str = ""
    wait: float | None = None


def post(
    url: str, message: dict[str, Any], reply: dict[str, str] | None = None, **options: Any
) -> SendOutcome:
    """Send a POST. Redirects are not followed: they would turn it into another request."""
    import requests  # noqa: PLC0415 - only where it is used

    headers = {"User-Agent": message["user_agent"], **options.pop("headers", {})}
    with requests.Session() as session:
        session.trust_env = False
        with session.post(
            url,
            headers=headers,
            stream=True,
            allow_redirects=False,
            timeout=(CONNECT_SECONDS, message["seconds"]),
            **options,
        ) as response:
            body = response.raw.read(MAX_ANSWER_BYTES, decode_content=True)
            if reply is not None:
                reply["body"] = body.decode("utf-8", "replace")
            status, wait = response.status_code, response.headers.get("Retry-After", "")
    if 200 <= status < 300:
        return SendOutcome("sent")
    if 300 <= status < 400:
        return SendOutcome(
            "failed", Reason("it answers {0} and leads elsewhere: give its own address", status)
        )
    words = " ".join(body.decode("utf-8", "replace").split())[:120]
    detail = Reason("it answers {0}", status)
    if words and "<" not in words:
        detail = Reason("it answers {0}: {1}", status, words)
    return SendOutcome(
        "gone" if status == 410 else "failed", detail, float(wait) if wait.isdecimal() else None
    )
