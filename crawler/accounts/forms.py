"""Forms of accounts."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import LoginForm
from django import forms

from crawler.accounts.models import INVITATION_DAYS
from crawler.web.roles import ROLES
from feeds.models import Category

MAX_INVITED = 500
MAX_DAYS = 90


class SignInForm(LoginForm):  # type: ignore[misc]
    """The form of the sign-in page, whose fields are `username` (a name or a mail address) and `password`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fields = kwargs.get("data")
        if fields is not None and "login" not in fields:
            kwargs["data"] = fields.copy()
            kwargs["data"]["login"] = fields.get("username", "")
        super().__init__(*args, **kwargs)

    def user_credentials(self) -> dict[str, str]:
        """Return name and password; a mail address counts as a name too."""
        return {"username": self.cleaned_data["login"], "password": self.cleaned_data["password"]}


class InvitationForm(forms.Form):
    """Whom an invitation is for."""

    role = forms.ChoiceField(choices=[(name, f"{name}: {words}") for name, words in ROLES.items()])
    folder = forms.ModelChoiceField(
        Category.objects.order_by("name"), required=False, empty_label="none", label="Feeds to begin with"
    )
    max_uses = forms.IntegerField(min_value=1, max_value=MAX_INVITED, initial=1, label="For how many people")
    days = forms.IntegerField(
        min_value=1, max_value=MAX_DAYS, initial=INVITATION_DAYS, label="Good for so many days"
    )


class RoleForm(forms.Form):
    """The role that somebody is given."""

    role = forms.ChoiceField(choices=[(name, name) for name in ROLES])
