"""Changes of accounts that follow from changes of passwords."""

from __future__ import annotations

from typing import Any

from allauth.account.signals import password_changed, password_reset, password_set
from django.contrib.auth.models import User
from django.dispatch import receiver

from crawler.accounts.models import Account


@receiver([password_changed, password_reset, password_set])
def note_own_password(user: User, **_: Any) -> None:
    """Note that a person has chosen the password."""
    Account.objects.filter(user=user, has_printed_password=True).update(has_printed_password=False)
