"""Services that apprise knows, by addresses as it writes them."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import urlsplit

from crawler.notices.posting import SendOutcome
from crawler.notices.targets.base import AddressError, AddressField, TargetKind
from crawler.text.marking import gettext_noop, pgettext

LOCAL_SERVICES = frozenset(
    ("dbus", "gio", "glib", "gnome", "kde", "macosx", "qt", "rsyslog", "syslog", "windows", "growl", "file")
)
"""Services of apprise that reach the machine itself, or send without a connection."""


class ServiceTarget(TargetKind):
    """A service such as ntfy, Telegram or Matrix."""

    key = "service"
    title = pgettext("kind of target", "another service")
    fields = (
        AddressField(
            "service",
            gettext_noop("Address of the service"),
            2000,
            help=gettext_noop("As apprise writes it, such as ntfy://my-topic or tgram://TOKEN/CHAT."),
            note="For a service: its address for apprise.",
        ),
    )
    hint = gettext_noop(
        '<a href="https://github.com/caronc/apprise/wiki" rel="noreferrer noopener">'
        "More than a hundred services</a>: ntfy, Gotify, Telegram, Matrix, Signal, Slack, Discord, Mastodon …"
    )

    def address_of(self, values: dict[str, Any]) -> tuple[str, str]:
        """Return the address, and the name of the service. Raises AddressError."""
        address = str(values.get("service", "")).strip()
        scheme = urlsplit(address).scheme.lower() if "://" in address else ""
        if not scheme:
            raise AddressError(
                gettext_noop("Such an address begins with the name of a service, as in ntfy://my-topic.")
            )
        if scheme in LOCAL_SERVICES:
            raise AddressError(gettext_noop("This service reaches the machine itself, which is not allowed."))
        return address, scheme.rstrip("s") if scheme.endswith("s") and len(scheme) > 4 else scheme

    def send(self, message: dict[str, Any]) -> SendOutcome:
        """Let apprise send the message."""
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
            lines[-1].partition(" - ")[2] or lines[-1]
            if lines
            else gettext_noop("the service did not take it")
        )
        return SendOutcome("failed", last[:300])
