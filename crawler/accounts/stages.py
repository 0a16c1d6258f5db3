"""A stage of sign-ins."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage


class KnownEmailStage(EmailVerificationStage):  # type: ignore[misc]
    """Confirmation of the mail address, for people who have one: owners and guests may have none."""

    def handle(self) -> Any:
        """Ask for the confirmation of an address, and pass people without any."""
        if not EmailAddress.objects.filter(user=self.login.user).exists():
            return None, True
        return super().handle()
