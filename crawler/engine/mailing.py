"""The mail server in force: the environment's, or the one that an operator chose on a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.message import EmailMessage

from crawler import environment
from crawler.engine.chosen import chosen


def has_mail() -> bool:
    """Return whether there is a server that mail can be sent by."""
    return bool(chosen("EMAIL_URL"))


class ChosenServer(BaseEmailBackend):
    """A mail backend that looks up the server for each batch, so that another one holds without a restart."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Send the messages by the server in force, with its sender. Returns how many; 0 without a server."""
        url = chosen("EMAIL_URL")
        if not url:
            return 0
        sender = chosen("MAIL_FROM")
        for message in email_messages:
            # Only the default sender is replaced; libraries that set their own know why.
            if message.from_email == settings.DEFAULT_FROM_EMAIL:
                message.from_email = sender
        return get_connection(fail_silently=self.fail_silently, **server_options(url)).send_messages(
            email_messages
        )


def server_options(url: str) -> dict[str, Any]:
    """Return the backend of a mail server's address and what it is made with."""
    parsed = environment.mail("EMAIL_URL", url)
    options: dict[str, Any] = {"backend": parsed["EMAIL_BACKEND"]}
    if not parsed["EMAIL_BACKEND"].endswith("smtp.EmailBackend"):
        return options
    return options | {
        "host": parsed.get("EMAIL_HOST"),
        "port": parsed.get("EMAIL_PORT"),
        "username": parsed.get("EMAIL_HOST_USER"),
        "password": parsed.get("EMAIL_HOST_PASSWORD"),
        "use_tls": parsed.get("EMAIL_USE_TLS"),
        "use_ssl": parsed.get("EMAIL_USE_SSL"),
        "timeout": settings.EMAIL_TIMEOUT,
    }
