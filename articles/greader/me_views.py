"""The subscriber's page of readers: server addresses, app passwords, and signed-in readers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import get_script_prefix, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from articles.greader.access import MAX_APP_PASSWORDS, create_app_password, is_good
from articles.greader.models import AppPassword, ReaderLogin
from articles.models import Subscriber
from articles.personal.following import subscriber_of


class AppPasswordForm(forms.Form):
    """A form for the name of a new app password."""

    name = forms.CharField(
        max_length=100,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy('What it is for, such as "Reader on the phone".'),
    )

    def __init__(self, *args: Any, subscriber: Subscriber) -> None:
        super().__init__(*args)
        self._subscriber = subscriber

    def clean(self) -> None:
        if self._subscriber.app_passwords.count() >= MAX_APP_PASSWORDS:
            raise forms.ValidationError(
                _("%(most)s are enough: revoke one first.") % {"most": MAX_APP_PASSWORDS}
            )


@never_cache
@sensitive_variables("new_password")
@require_http_methods(["GET", "HEAD", "POST"])
def readers(request: HttpRequest) -> HttpResponse:
    """Show addresses, app passwords and logins. A new password is shown once, in the response to its form."""
    subscriber = subscriber_of(request.user)
    form = AppPasswordForm(request.POST or None, subscriber=subscriber)
    new_password = ""
    if request.method == "POST" and form.is_valid():
        new_password = create_app_password(subscriber, form.cleaned_data["name"])
        form = AppPasswordForm(subscriber=subscriber)
    logins = subscriber.reader_logins.filter(revoked__isnull=True).select_related(
        "app_password", "subscriber__user"
    )
    context = {
        "form": form,
        "made": new_password,
        "server": request.build_absolute_uri(reverse("greader-base")).removesuffix("/"),
        "short_server": request.build_absolute_uri(get_script_prefix()).removesuffix("/"),
        "fever_server": request.build_absolute_uri(reverse("fever")),
        "app_passwords": subscriber.app_passwords.all(),
        "logins": [login for login in logins if is_good(login)],
    }
    return render(request, "me/readers.html", context)


@require_POST
def revoke_app_password(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete an app password, which signs out every reader that used it."""
    row = get_object_or_404(AppPassword, pk=pk, subscriber=subscriber_of(request.user))
    row.delete()
    messages.success(
        request,
        _("The app password %(name)s was revoked, and readers that used it signed out.") % {"name": row.name},
    )
    return redirect("me-readers")


@require_POST
def revoke_login(request: HttpRequest, pk: int) -> HttpResponse:
    """Sign a reader out."""
    row = get_object_or_404(ReaderLogin, pk=pk, subscriber=subscriber_of(request.user))
    ReaderLogin.objects.filter(pk=row.pk, revoked__isnull=True).update(revoked=datetime.now(UTC))
    messages.success(request, _("%(app)s was signed out.") % {"app": row.app or _("The reader")})
    return redirect("me-readers")
