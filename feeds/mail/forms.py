"""Forms of newsletters: an address of one's own, and a mailbox."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from crawler.web.forms import RowForm
from feeds.mail.models import MailAddress, Mailbox

MAX_ADDRESSES, MAX_MAILBOXES = 100, 10
MAIL_PORTS = frozenset({143, 993})
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class MailAddressForm(RowForm):
    """A form for an address of one's own."""

    class Meta:
        model = MailAddress
        fields = ["name"]
        labels = {"name": gettext_lazy("What it is for")}
        help_texts = {"name": ""}
        widgets = {"name": forms.TextInput(attrs={"autocomplete": "off", "maxlength": 100})}

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.instance.user = user

    def clean(self) -> dict[str, Any]:
        """Refuse more addresses than one person may have."""
        if MailAddress.objects.filter(user=self.instance.user).count() >= MAX_ADDRESSES:
            raise ValidationError(
                _("%(most)d addresses are enough: take one back first.") % {"most": MAX_ADDRESSES}
            )
        return self.cleaned_data


class MailboxForm(RowForm):
    """A form for a mailbox, with its password or token, which is shown nowhere."""

    secret = forms.CharField(
        label=gettext_lazy("Password or token"),
        max_length=4000,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    class Meta:
        model = Mailbox
        fields = ["host", "port", "security", "login", "sign_in", "secret", "folder"]
        labels = {
            "host": gettext_lazy("Mail server (IMAP)"),
            "port": pgettext_lazy("of a server", "Port"),
            "security": gettext_lazy("Connection"),
            "login": gettext_lazy("Name there, often the mail address"),
            "sign_in": gettext_lazy("Sign in with"),
            "folder": gettext_lazy("Folder of the mailbox"),
        }
        widgets = {
            "host": forms.TextInput(
                attrs={"autocapitalize": "off", "spellcheck": "false", "placeholder": "imap.example.org"}
            ),
            "login": forms.TextInput(
                attrs={"autocapitalize": "off", "spellcheck": "false", "autocomplete": "off"}
            ),
        }

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.instance.user = user
        for name in ("port", "security", "sign_in", "folder"):
            self.fields[name].required = False

    def clean_host(self) -> str:
        """Return the name of the server in small letters."""
        host: str = self.cleaned_data["host"].strip().lower().strip("[]")
        if not _HOST.fullmatch(host):
            raise ValidationError(_("This is no name of a server."))
        return host

    def clean_port(self) -> int:
        """Return the port, the usual one if none is given."""
        port = self.cleaned_data["port"]
        if port is None:
            return 993
        if port < 1024 and port not in MAIL_PORTS:
            raise ValidationError(_("Mail servers answer at port 993 or 143."))
        return int(port)

    def clean_security(self) -> str:
        """Return how the connection is encrypted, by TLS if nothing is said."""
        return self.cleaned_data["security"] or Mailbox.Security.TLS

    def clean_sign_in(self) -> str:
        """Return how to sign in, by a password if nothing is said."""
        return self.cleaned_data["sign_in"] or Mailbox.Method.PASSWORD

    def clean_login(self) -> str:
        """Return the name, on one line."""
        return self._one_line("login")

    def clean_secret(self) -> str:
        """Return the password or token, on one line."""
        return self._one_line("secret")

    def clean_folder(self) -> str:
        """Return the folder, the inbox if none is given."""
        return self._one_line("folder") or "INBOX"

    def _one_line(self, name: str) -> str:
        text: str = self.cleaned_data[name]
        if _CONTROL.search(text):
            raise ValidationError(_("It has signs that cannot stand in it."))
        return text

    def clean(self) -> dict[str, Any]:
        """Refuse a connection in plain to another machine, a mailbox given twice, and too many."""
        fields = self.cleaned_data
        host = fields.get("host", "")
        if fields.get("security") == Mailbox.Security.NONE and host and not _is_this_machine(host):
            self.add_error("security", _("Without encryption only a server on this machine is asked."))
        mailboxes = Mailbox.objects.filter(user=self.instance.user)
        if mailboxes.count() >= MAX_MAILBOXES:
            raise ValidationError(
                _("%(most)d mailboxes are enough: remove one first.") % {"most": MAX_MAILBOXES}
            )
        if mailboxes.filter(host=host, login=fields.get("login"), folder=fields.get("folder")).exists():
            raise ValidationError(_("You have added this mailbox already: remove it first."))
        return fields

    def save(self, commit: bool = True) -> Mailbox:
        """Store the mailbox with its secret encrypted."""
        self.instance.secret = self.cleaned_data["secret"]
        mailbox: Mailbox = super().save(commit)
        return mailbox
