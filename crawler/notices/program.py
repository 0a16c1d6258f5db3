"""The program that sends one message to one target, in a process without database, secret key and files.

Every connection goes through the address guard, whatever library makes it; the process ends at its deadline.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec

from crawler.fetching.http.addresses import AddressGuard
from crawler.fetching.sandboxed.programs import SENDING
from crawler.isolation.calls import register
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason, packed

SEND = "send-notice"
MAX_ANSWER_BYTES = 4096
TOO_SLOW = gettext_noop("it did not answer in time")
CONNECT_SECONDS = 10.0
LOCAL_SERVICES = frozenset(
    ("dbus", "gio", "glib", "gnome", "kde", "macosx", "qt", "rsyslog", "syslog", "windows", "growl", "file")
)
"""Services of apprise that reach the machine itself, or send without a connection."""


class SendOutcome(msgspec.Struct):
    """The end of sending: `state` is sent, failed or gone (for good); `wait` in seconds."""

    state: str
    detail: str = ""
    wait: float | None = None


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


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return what a webhook's receiver compares: HMAC-SHA256 over the time, a dot, and the body."""
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"


def _webhook(message: dict[str, Any]) -> SendOutcome:
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
    return _post(target["url"], message, data=body, headers=headers)


def _service(message: dict[str, Any]) -> SendOutcome:
    import apprise  # noqa: PLC0415 - only where it is used

    address = message["address"]
    if urlsplit(address).scheme.lower() in LOCAL_SERVICES:
        return SendOutcome("failed", "this service reaches the machine itself, which is not allowed")
    server = apprise.Apprise()
    if not server.add(address):
        return SendOutcome("failed", gettext_noop("the address is none of a service that is known here"))
    with apprise.LogCapture(level=logging.WARNING) as captured:  # type: ignore[no-untyped-call]
        sent = server.notify(
            title=message["title"], body=message["text"], body_format=apprise.NotifyFormat.TEXT
        )
        lines = captured.getvalue().strip().splitlines()
    if sent:
        return SendOutcome("sent")
    last = (
        lines[-1].partition(" - ")[2] or lines[-1] if lines else gettext_noop("the service did not take it")
    )
    return SendOutcome("failed", last[:300])


def _push(message: dict[str, Any]) -> SendOutcome:
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


def _save(message: dict[str, Any]) -> SendOutcome:
    target = json.loads(message["address"])
    address, title = message["url"], message["title"]
    base = target.get("url", "").rstrip("/")
    token = target.get("token", "")
    service = target["service"]
    if service == "wallabag":
        return _wallabag(base, target, message)
    if service == "instapaper":
        fields, login = {"url": address, "title": title}, (target.get("name", ""), token)
        return _post("https://www.instapaper.com/api/add", message, data=fields, auth=login)
    if service not in _BOOKMARKS:
        return SendOutcome("failed", "this service is not known here")
    place, scheme, more_fields = _BOOKMARKS[service]
    content = {**more_fields, "url": address, "title": title}
    headers = {"Authorization": f"{scheme} {token}"}
    return _post(place.format(base=base), message, json=content, headers=headers)


_BOOKMARKS: dict[str, tuple[str, str, dict[str, str]]] = {
    "linkding": ("{base}/api/bookmarks/", "Token", {}),
    "karakeep": ("{base}/api/v1/bookmarks", "Bearer", {"type": "link"}),
    "readwise": ("https://readwise.io/api/v3/save/", "Token", {}),
}
"""Services that take a bookmark as JSON: where, the word before the token, fields beside url and title."""


def _wallabag(base: str, target: dict[str, str], message: dict[str, Any]) -> SendOutcome:
    fields = {
        "grant_type": "password",
        "client_id": target.get("client", ""),
        "username": target.get("name", ""),
    }
    fields |= {"client_secret": target.get("secret", ""), "password": target.get("token", "")}
    reply: dict[str, str] = {}
    outcome = _post(f"{base}/oauth/v2/token", message, data=fields, reply=reply)
    if outcome.state != "sent":
        return outcome
    token = json.loads(reply["body"])["access_token"]
    return _post(
        f"{base}/api/entries.json",
        message,
        json={"url": message["url"], "title": message["title"]},
        headers={"Authorization": f"Bearer {token}"},
    )


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
    return _post(message["url"], message, data=body, headers=headers)


def _hub_over(message: dict[str, Any]) -> SendOutcome:
    """Report why there is nothing to send."""
    return SendOutcome("gone", message["why"])


def _post(
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
    "webhook": _webhook,
    "service": _service,
    "push": _push,
    "save": _save,
    "hub-verify": _hub_verify,
    "hub-push": _hub_push,
    "hub-over": _hub_over,
}
register(SEND, send, SENDING)
