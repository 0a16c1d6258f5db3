"""A stage of sign-ins."""

from __future__ import annotations

from typing import Any

from allauth.account.app_settings import EmailVerificationMethod
from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage

from crawler.accounts.sign_up import confirms_mail


class KnownEmailStage(EmailVerificationStage):  # type: ignore[misc]
    """Confirmation of the mail address, for people who have one: owners and guests may have none."""

    def handle(self) -> Any:
        """Ask for the confirmation of an address, and pass people without any."""
        # The settings were read at the start; who may sign up can have been chosen since.
        is_asked = EmailVerificationMethod.MANDATORY if confirms_mail() else EmailVerificationMethod.NONE
        self.login.email_verification = is_asked
        if not EmailAddress.objects.filter(user=self.login.user).exists():
            return None, True
        return super().handle()
