"""The requests of the hub to the programs that subscribe to feeds here; without Django."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from typing import Any

from crawler.notices.posting import CONNECT_SECONDS, MAX_ANSWER_BYTES, SendOutcome, post
from crawler.text.reasons import Reason


def _hub_verify(message: dict[str, Any]) -> SendOutcome:
    """Ask a program whether it wants what was requested in its name (WebSub 5.3)."""
    import requests  # noqa: PLC0415 - only where it is used

    with requests.Session() as session:
        session.trust_env = False
        with session.get(
            message["url"],
            headers={"User-Agent": message["user_agent"]},
            stream=True,
            allow_redirects=False,
            timeout=(CONNECT_SECONDS, message["seconds"]),
        ) as response:
            body = response.raw.read(MAX_ANSWER_BYTES, decode_content=True)
            status = response.status_code
    if status == 404:
        return SendOutcome("gone", "it does not confirm the request")
    if not 200 <= status < 300:
        return SendOutcome("failed", Reason("it answers {0}", status))
    if not hmac.compare_digest(body.strip(), message["challenge"].encode()):
        return SendOutcome("failed", "it does not send the challenge back")
    return SendOutcome("sent")


def _hub_push(message: dict[str, Any]) -> SendOutcome:
    """Send a feed to a program, signed with the program's secret (WebSub 7)."""
    body = message["content"].encode()
    headers = {"Content-Type": message["content_type"], "Link": message["links"]}
    if message["secret"]:
        digest = hmac.new(message["secret"].encode(), body, hashlib.sha256).hexdigest()
        headers["X-Hub-Signature"] = f"sha256={digest}"
    return post(message["url"], message, data=body, headers=headers)


def _hub_over(message: dict[str, Any]) -> SendOutcome:
    """Report why there is nothing to send."""
    return SendOutcome("gone", message["why"])


REQUESTS: dict[str, Callable[[dict[str, Any]], SendOutcome]] = {
    "hub-verify": _hub_verify,
    "hub-push": _hub_push,
    "hub-over": _hub_over,
}
