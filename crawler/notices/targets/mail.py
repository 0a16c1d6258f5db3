"""Mail: the one kind that needs the deployment's settings to send, so the process that has them sends it."""

from __future__ import annotations

from smtplib import SMTPException
from typing import Any

from crawler.notices.posting import SendOutcome
from crawler.notices.targets.base import AddressField, TargetKind
from crawler.notices.wording import MAX_TITLE
from crawler.text.characters import one_line
from crawler.text.marking import gettext_noop, pgettext
from crawler.text.reasons import Reason


class MailTarget(TargetKind):
    """A mail address."""

    key = "mail"
    title = pgettext("kind of target", "mail")
    fields = (AddressField("mail", gettext_noop("Mail address"), 254, note="For mail: the address."),)
    is_masked = False
    is_isolated = False

    def address_of(self, values: dict[str, Any]) -> tuple[str, str]:
        """Return the address, which is its own name. Raises ValidationError."""
        from django.core.validators import validate_email  # noqa: PLC0415 - not where messages are sent

        validate_email(values.get("mail", ""))
        return values["mail"], values["mail"]

    def send(self, message: dict[str, Any]) -> SendOutcome:
        """Send a mail with a way to stop its rule's messages (RFC 8058)."""
        from django.core.mail import EmailMultiAlternatives  # noqa: PLC0415 - only where settings are

        from crawler.engine.mailing import has_mail  # noqa: PLC0415

        if not has_mail():
            return SendOutcome("failed", gettext_noop("no mail server is set"))
        html, stop = message["html"], message["stop"]
        headers = {"Message-ID": f"<{message['uid']}@freshet>", "Auto-Submitted": "auto-generated"}
        if stop:
            headers |= {
                "List-Unsubscribe": f"<{stop}>",
                "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            }
        text = f"{message['text']}\n\n-- \n{stop}\n" if stop and not html else message["text"]
        title = one_line(message["title"], MAX_TITLE)
        mail = EmailMultiAlternatives(title, text, to=[message["address"]], headers=headers)
        if html:
            mail.attach_alternative(html, "text/html")
        try:
            mail.send()
        except (SMTPException, OSError, ValueError) as error:
            return SendOutcome("failed", Reason("the mail server did not take it: {0}", str(error)[:250]))
        return SendOutcome("sent")
