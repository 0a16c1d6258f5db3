"""Confirmations: what cannot be taken back happens only with a word that names exactly that."""

from __future__ import annotations

from django.core import signing

from crawler.accounts.assistants.callers import Caller

_SALT = "crawler.assistants.confirming"
SECONDS = 600
"""How long a confirmation may be used: as long as a person needs to answer their assistant."""


def confirmation(caller: Caller, tool: str, target: str) -> str:
    """Return the confirmation for a tool of this caller to do something to a target."""
    return signing.dumps([caller.user.pk, tool, target], salt=_SALT)


def is_confirmed(caller: Caller, tool: str, target: str, token: str) -> bool:
    """Return whether a confirmation was made for this caller, tool and target, and lately."""
    try:
        value = signing.loads(token, salt=_SALT, max_age=SECONDS)
    except signing.BadSignature:
        return False
    return bool(value == [caller.user.pk, tool, target])
