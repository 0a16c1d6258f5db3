"""Rules of sign-up as they are in force now: who may make an account, and how."""

from __future__ import annotations

from crawler.engine.chosen import chosen
from crawler.engine.mailing import has_mail


def is_open() -> bool:
    """Return whether anybody may make an account."""
    return bool(chosen("SIGN_UP") == "open")


def confirms_mail() -> bool:
    """Return whether an account needs a confirmed mail address: anybody may come, and mail can be sent."""
    return is_open() and has_mail()
