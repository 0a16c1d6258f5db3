"""The form that asks for an account at another feed reader, or for its file."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from articles.moving.models import Move


class MoveInForm(forms.Form):
    """Where somebody comes from: an address with a name and password, or a file."""

    kind = forms.ChoiceField(choices=Move.Kind.choices, required=False, initial=Move.Kind.GREADER)
    url = forms.CharField(required=False, max_length=2000, label=gettext_lazy("Its address"))
    login = forms.CharField(required=False, max_length=200, label=gettext_lazy("Your name there"))
    secret = forms.CharField(required=False, max_length=500, label=gettext_lazy("Password or token"))
    file = forms.FileField(required=False, label=gettext_lazy("Its file"))

    def clean_url(self) -> str:
        """Return the address with https where a person typed a name alone."""
        url: str = self.cleaned_data["url"].strip()
        if not url or url.lower().startswith(("http://", "https://")):
            return url
        return "" if ":" in url.partition("/")[0].partition(":")[0] else f"https://{url}"

    def clean(self) -> dict[str, Any]:
        """Require an address with its password, or a file."""
        fields: dict[str, Any] = super().clean() or {}
        if fields.get("file"):
            fields["kind"] = Move.Kind.FILE
            return fields
        fields["kind"] = fields.get("kind") or Move.Kind.GREADER
        if fields["kind"] == Move.Kind.FILE:
            self.add_error("file", _("Choose the file that the other program has written."))
            return fields
        if not fields.get("url"):
            self.add_error("url", _("Write the address of the other reader."))
        if not fields.get("secret"):
            self.add_error("secret", _("Write the password, or the one that it has for programs."))
        return fields
