"""The record that a message of mail is read into."""

from __future__ import annotations

from crawler.text.records import Record


class MailFile(Record, frozen=True):
    """A file that a message carries: its name, media type and size in bytes. The bytes are not kept."""

    name: str
    type: str = ""
    size: int = 0


class Mail(Record, frozen=True):
    """One message. Texts are "" and times None where it does not say.

    `message_id` has no angle brackets; without that header it is a digest of the content. `list_id` is RFC
    2919's in lower case, `sent` seconds since the epoch. `html` is sanitised, `text` its words, `summary` the
    preheader or the first words. `unsubscribe_one_click` says that a POST to `unsubscribe_url` ends the
    subscription (RFC 8058). `confirm_url` is the link that confirms a subscription, as written in the
    message. `view_url` is the message's own page on the web. `authentication` is `pass` or `fail` if the
    topmost Authentication-Results header says so of `authenticated_domain`, else "". `opaque_links` counts
    links through trackers whose targets are unknown. `pictures` counts inline pictures that stand in `html`
    as `data:` addresses.
    """

    message_id: str
    subject: str = ""
    sender_name: str = ""
    sender_address: str = ""
    list_id: str = ""
    list_name: str = ""
    sent: float | None = None
    language: str = ""
    html: str = ""
    text: str = ""
    summary: str = ""
    author: str = ""
    unsubscribe_url: str = ""
    unsubscribe_one_click: bool = False
    unsubscribe_mail: str = ""
    is_confirmation: bool = False
    confirm_url: str = ""
    view_url: str = ""
    authentication: str = ""
    authenticated_domain: str = ""
    recipients: tuple[str, ...] = ()
    opaque_links: int = 0
    pictures: int = 0
    audio: tuple[MailFile, ...] = ()
    attachments: tuple[MailFile, ...] = ()
