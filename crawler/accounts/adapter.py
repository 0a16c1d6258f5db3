"""Adapters of django-allauth: who may sign up, when mail is sent, and how secrets are stored."""

from __future__ import annotations

import base64
import hashlib
import logging
from datetime import UTC, datetime
from smtplib import SMTPException
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from crawler.accounts.invitations import invitation_of, use_invitation, welcome
from crawler.accounts.models import Invitation
from crawler.accounts.sign_up import is_open
from crawler.engine.chosen import chosen
from crawler.engine.mailing import has_mail
from crawler.web.attempts import client_address

log = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts with a name and a password."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether anybody may sign up, or the visitor has come with an invitation."""
        return is_open() or invitation_of(request, datetime.now(UTC)) is not None

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Store a new account, with the role and the feeds of its invitation."""
        with transaction.atomic():
            invitation = _used_invitation(request, is_open())
            stored: User = super().save_user(request, user, form, commit)
            if invitation is not None and commit:
                welcome(stored, invitation)
        return stored

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail if there is a server for it."""
        if has_mail():
            try:
                super().send_mail(template_prefix, email, context)
            except (SMTPException, OSError) as error:
                log.error("no mail could be sent: %s", error)

    def get_login_stages(self) -> list[str]:
        """Return the stages of a sign-in, in which people without a mail address need not confirm one."""
        stages: list[str] = super().get_login_stages()
        theirs = "allauth.account.stages.EmailVerificationStage"
        return ["crawler.accounts.stages.KnownEmailStage" if stage == theirs else stage for stage in stages]

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address of a visitor as everywhere in Freshet."""
        return client_address(request) or "0.0.0.0"  # noqa: S104 - none is known

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Do nothing: django-axes and `crawler.accounts.backends` count failures, in the database."""


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Accounts of an identity provider."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Return whether people whom the provider knows get an account at their first sign-in."""
        return bool(chosen("OIDC_SIGN_UP")) or invitation_of(request, datetime.now(UTC)) is not None

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        """Store a new account, with the role and the feeds of its invitation."""
        with transaction.atomic():
            invitation = _used_invitation(request, chosen("OIDC_SIGN_UP"))
            user: User = super().save_user(request, sociallogin, form)
            if invitation is not None:
                welcome(user, invitation)
        return user


class MfaAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Second factors, whose secrets are encrypted at rest with a key derived from SECRET_KEY."""

    def encrypt(self, text: str) -> str:
        """Encrypt a secret."""
        return _fernet().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt a secret. Returns "" when SECRET_KEY has changed, so that no code fits."""
        try:
            return _fernet().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return ""


def _used_invitation(request: HttpRequest, is_open: bool) -> Invitation | None:
    """Use the visitor's invitation. Raises PermissionDenied when none is left and sign-up is not open."""
    invitation = use_invitation(request, datetime.now(UTC))
    if invitation is None and not is_open:
        raise PermissionDenied(_("This invitation has been used up or is too old."))
    return invitation


def _fernet() -> Fernet:
    key = hashlib.blake2b(settings.SECRET_KEY.encode(), digest_size=32, person=b"freshet.mfa").digest()
    return Fernet(base64.urlsafe_b64encode(key))
