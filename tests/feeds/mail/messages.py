"""Messages of newsletters for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime


def issue(
    number: int = 1, *, to: str = "ada@example.org", name: str = "Harbour weekly", **headers: str
) -> bytes:
    """An issue of a newsletter with a link of its own, sent some hours ago."""
    slug = name.lower().replace(" ", "-")
    lines = {
        "From": f"{name} <news@{slug}.example>",
        "To": to,
        "Subject": f"{name} no. {number}",
        "Date": format_datetime(datetime.now(UTC) - timedelta(hours=100 - number)),
        "Message-ID": f"<{slug}-{number}@{slug}.example>",
        "List-Id": f"{name} <weekly.{slug}.example>",
        "List-Unsubscribe": f"<https://{slug}.example/leave>",
        "Content-Type": "text/html; charset=utf-8",
        **{key.replace("_", "-"): value for key, value in headers.items()},
    }
    body = f"<html><body><p>The lamp of issue {number} is lit again.</p></body></html>"
    return ("".join(f"{key}: {value}\r\n" for key, value in lines.items()) + "\r\n" + body).encode()


def request_to_confirm(to: str = "ada@example.org") -> bytes:
    """A message that asks to confirm a subscription."""
    return (
        f"From: Harbour weekly <news@harbour-weekly.example>\r\nTo: {to}\r\nMessage-ID: <ask@x.example>\r\n"
        "Subject: Please confirm your subscription\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        '<p>Please confirm your subscription:</p><p><a href="https://harbour-weekly.example/confirm/abc">'
        "Confirm subscription</a></p>"
    ).encode()


def personal_letter() -> bytes:
    """A letter from one person to another."""
    return (
        b"From: Bob <bob@example.net>\r\nTo: ada@example.org\r\nSubject: Lunch?\r\n"
        b"Message-ID: <lunch@example.net>\r\n\r\nAt noon?\r\n"
    )
