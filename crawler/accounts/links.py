"""Links with which a person sets a new password, once."""

from __future__ import annotations

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth.models import User
from django.urls import reverse


def password_link(user: User, origin: str) -> str:
    """Return the address at which a user sets a new password: once, within PASSWORD_RESET_TIMEOUT.

    `origin` is the beginning of addresses of this deployment, such as https://news.example.
    """
    key = default_token_generator.make_token(user)
    return origin + reverse(
        "account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": key}
    )
