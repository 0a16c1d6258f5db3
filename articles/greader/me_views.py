"""The page of apps and keys: what to type into an app, app passwords, and tokens of programs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import get_script_prefix, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.authtoken.models import Token

from articles.greader.access import MAX_APP_PASSWORDS, create_app_password, is_good
from articles.greader.models import AppPassword, ReaderLogin
from articles.models import Subscriber
from articles.personal.following import subscriber_of
from crawler.web.models import ApiToken
from crawler.web.permissions import person_of
from crawler.web.scopes import TOKEN_SENTENCES
from crawler.web.settings_tabs import TABS

MAX_TOKENS = 50
APPS = (
    ("NetNewsWire", "freshrss"),
    ("Reeder", "freshrss"),
    ("FeedMe", "freshrss"),
    ("Read You", "freshrss"),
    ("Fluent Reader", "freshrss"),
    ("Capy Reader", "freshrss"),
    ("ReadKit", "freshrss"),
    ("FocusReader", "freshrss"),
    ("NewsFlash", "greader"),
    ("Fiery Feeds", "fever"),
    (gettext_noop("Another that knows FreshRSS"), "freshrss"),
    (gettext_noop("Another that knows Miniflux or Google Reader"), "greader"),
    (gettext_noop("Another that knows Fever"), "fever"),
)
"""Apps and the service that is chosen in them, which says what is typed as the server."""


class AppPasswordForm(forms.Form):
    """A form for the name of a new app password."""

    name = forms.CharField(max_length=100, label=gettext_lazy("Which app, on which device?"))

    def __init__(self, *args: Any, subscriber: Subscriber) -> None:
        super().__init__(*args)
        self._subscriber = subscriber

    def clean(self) -> None:
        if self._subscriber.app_passwords.count() >= MAX_APP_PASSWORDS:
            raise forms.ValidationError(
                _("%(most)s are enough: revoke one first.") % {"most": MAX_APP_PASSWORDS}
            )


class TokenForm(forms.Form):
    """A form for a new token: what it is for, and what it may do."""

    token_for = forms.CharField(max_length=100, label=gettext_lazy("What is it for?"))
    may = forms.ChoiceField(
        choices=list(TOKEN_SENTENCES.items()),
        label=gettext_lazy("It may"),
    )

    def __init__(self, *args: Any, user: User) -> None:
        super().__init__(*args)
        self._user = user

    def clean(self) -> None:
        if ApiToken.objects.filter(user=self._user).count() >= MAX_TOKENS:
            raise forms.ValidationError(_("%(most)s are enough: take one back first.") % {"most": MAX_TOKENS})


@never_cache
@sensitive_variables("new_password", "new_token")
@require_http_methods(["GET", "HEAD", "POST"])
def readers(request: HttpRequest) -> HttpResponse:
    """Show what to type into apps, app passwords, and tokens of programs.

    A new password or token is shown once, in the response to its form.
    """
    user = person_of(request)
    subscriber = subscriber_of(user)
    is_token = "token_for" in request.POST
    form = AppPasswordForm(None if is_token else request.POST or None, subscriber=subscriber)
    tokens = TokenForm(request.POST if is_token else None, user=user)
    new_password = new_token = made_for = ""
    if request.method == "POST" and not is_token and form.is_valid():
        made_for = form.cleaned_data["name"]
        new_password = create_app_password(subscriber, made_for)
        form = AppPasswordForm(subscriber=subscriber)
    elif request.method == "POST" and is_token and tokens.is_valid():
        made_for = tokens.cleaned_data["token_for"]
        _row, new_token = ApiToken.make(user, made_for, scope=tokens.cleaned_data["may"])
        tokens = TokenForm(user=user)
    logins = subscriber.reader_logins.filter(revoked__isnull=True).select_related(
        "app_password", "subscriber__user"
    )
    app, knows = _app_of(request.GET.get("app", ""))
    context = {
        "tab": TABS["apps"],
        "form": form,
        "tokens_form": tokens,
        "made": new_password,
        "made_token": new_token,
        "made_for": made_for,
        "apps": [name for name, _knows in APPS],
        "app": app,
        "knows": knows,
        "old": datetime.now(UTC) - timedelta(days=180),
        "tokens": ApiToken.objects.filter(user=user),
        "command_token": Token.objects.filter(user=user).first(),
        "server": request.build_absolute_uri(reverse("greader-base")).removesuffix("/"),
        "short_server": request.build_absolute_uri(get_script_prefix()).removesuffix("/"),
        "fever_server": request.build_absolute_uri(reverse("fever")),
        "app_passwords": subscriber.app_passwords.all(),
        "logins": [login for login in logins if is_good(login)],
    }
    return render(request, "settings/apps.html", context)


def _app_of(name: str) -> tuple[str, str]:
    """Return an app of the list and what it speaks, the first one for an unknown name."""
    return next((each for each in APPS if each[0] == name), APPS[0])


@require_POST
def revoke_app_password(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete an app password, which signs out every reader that used it."""
    row = get_object_or_404(AppPassword, pk=pk, subscriber=subscriber_of(request.user))
    row.delete()
    messages.success(
        request,
        _("%(name)s was taken back: apps that used it are signed out.") % {"name": row.name},
    )
    return redirect("me-readers")


@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a token of a program; 0 is the one that `manage.py api_token` made."""
    user = person_of(request)
    if pk:
        row = get_object_or_404(ApiToken, pk=pk, user=user)
        name = row.name
        row.delete()
    else:
        Token.objects.filter(user=user).delete()
        name = _("The token of the command")
    messages.success(request, _("%(name)s was taken back and opens nothing any more.") % {"name": name})
    return redirect("me-readers")


@require_POST
def revoke_login(request: HttpRequest, pk: int) -> HttpResponse:
    """Sign a reader out."""
    row = get_object_or_404(ReaderLogin, pk=pk, subscriber=subscriber_of(request.user))
    ReaderLogin.objects.filter(pk=row.pk, revoked__isnull=True).update(revoked=datetime.now(UTC))
    messages.success(request, _("%(app)s was signed out.") % {"app": row.app or _("The reader")})
    return redirect("me-readers")
