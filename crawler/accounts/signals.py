"""Changes of accounts that follow from sign-ins and from changes of passwords and second factors."""

from __future__ import annotations

from typing import Any

from allauth.account.signals import password_changed, password_reset, password_set
from allauth.mfa.signals import authenticator_added
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db.models.functions import Now
from django.dispatch import receiver

from articles.greader.models import ReaderLogin
from crawler.accounts.models import Account, choices_of
from crawler.web.attempts import client_address


@receiver([password_changed, password_reset, password_set])
def note_own_password(user: User, **_: Any) -> None:
    """Note that a person has chosen the password, and open the name for passwords again."""
    Account.objects.filter(user=user, has_printed_password=True).update(has_printed_password=False)
    AccessAttempt.objects.filter(username__in=_names_of(user)).delete()


@receiver(user_logged_in)
def forget_typos(user: User, request: Any, **_: Any) -> None:
    """Forget failed sign-ins from this address under the person's mail address, as axes does for the name."""
    if user.email and request is not None:
        attempts = AccessAttempt.objects.filter(username=user.email.casefold()[:255])
        attempts.filter(ip_address=client_address(request)).delete()


@receiver(user_logged_in)
def bring_choices(user: User, request: Any, **_: Any) -> None:
    """Show pages in the language and the time zone that the person chose on another device."""
    account = Account.objects.filter(user=user).first() if request is not None else None
    if account is not None:
        request.choices_to_remember = {name: value for name, value in choices_of(account).items() if value}


@receiver(authenticator_added)
def end_app_logins(user: User, **_: Any) -> None:
    """End sign-ins of apps that were made with the account's own password, without a second factor."""
    logins = ReaderLogin.objects.filter(subscriber__user=user, app_password=None, revoked__isnull=True)
    logins.update(revoked=Now())


def _names_of(user: User) -> list[str]:
    return [name.casefold()[:255] for name in (user.get_username(), user.email) if name]
