"""Forms of accounts."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from allauth.account.forms import LoginForm
from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from crawler.accounts.models import INVITATION_DAYS, Account
from crawler.web.forms import RowForm
from crawler.web.roles import ROLE_NAMES, ROLES
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


def described_roles() -> list[tuple[str, str]]:
    """Return each role with its name and what it may do, in the active language."""
    return [(role, f"{ROLE_NAMES[role]}: {words}") for role, words in ROLES.items()]


class InvitationForm(forms.Form):
    """Whom an invitation is for."""

    role = forms.ChoiceField(choices=described_roles, label=gettext_lazy("Role"))
    folder = forms.ModelChoiceField(
        Category.objects.order_by("name"),
        required=False,
        empty_label=pgettext_lazy("folder", "none"),
        label=gettext_lazy("Feeds to begin with"),
    )
    max_uses = forms.IntegerField(
        min_value=1, max_value=MAX_INVITED, initial=1, label=gettext_lazy("For how many people")
    )
    days = forms.IntegerField(
        min_value=1, max_value=MAX_DAYS, initial=INVITATION_DAYS, label=gettext_lazy("Good for so many days")
    )


class ChoicesForm(RowForm):
    """The language and the time zone in which somebody wants to read pages."""

    language = forms.ChoiceField(required=False, label=gettext_lazy("Language"))
    zone = forms.ChoiceField(required=False, label=gettext_lazy("Time zone"))

    class Meta:
        model = Account
        fields = ("language", "zone")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        by_browser = ("", gettext("As the browser has it"))
        self.fields["language"].choices = [by_browser, *settings.LANGUAGES]  # type: ignore[attr-defined]
        names = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
        self.fields["zone"].choices = [by_browser, *((name, name) for name in ("UTC", *names))]  # type: ignore[attr-defined]


class RoleForm(forms.Form):
    """The role that somebody is given."""

    role = forms.ChoiceField(choices=[(name, name) for name in ROLES])
