"""Settings that operators change while Freshet runs.

The environment wins over their choice, and their choice over the default.

A choice holds in every process within `FRESH_SECONDS`, so from the next tick on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parseaddr
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext as _

from crawler import environment
from crawler.database import secrets
from crawler.engine.models import Host, OperatorSetting

FRESH_SECONDS = 2.0
"""For so long the rows are not read again: a round of leases asks for the pause of thousands of hosts."""


class ChoiceError(ValueError):
    """A value that a setting cannot have; its text is a sentence for people."""


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = _number(least, most)(value)
        if number != int(number):
            raise ChoiceError(_("That must be a whole number."))
        return int(number)

    return read


def _number(least: float, most: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        try:
            number = float(str(value).strip().replace(",", "."))
        except ValueError:
            raise ChoiceError(_("That must be a number.")) from None
        if not math.isfinite(number) or not least <= number <= most:
            limits = {"least": f"{least:g}", "most": f"{most:g}"}
            raise ChoiceError(_("That must be a number from %(least)s to %(most)s.") % limits)
        return number

    return read


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise ChoiceError(_("That must be one of: %(words)s.") % {"words": ", ".join(words)})
        return str(value)

    return read


def _switch(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower() in {"1", "true", "yes", "on"}
    return bool(value)


def _mail_server(value: Any) -> str:
    try:
        environment.mail("EMAIL_URL", str(value).strip())
    except ImproperlyConfigured as error:
        raise ChoiceError(str(error)) from None
    return str(value).strip()


def _sender(value: Any) -> str:
    text = " ".join(str(value).split())
    if not 0 < len(text) <= 254 or "@" not in parseaddr(text)[1]:
        raise ChoiceError(_("That must be a mail address, such as Freshet <freshet@example.org>."))
    return text


@dataclass(frozen=True, slots=True)
class Choosable:
    """A setting that can be chosen: how a value is read (raises ChoiceError), and whether it is a secret.

    `setting` is its name among Django's settings, where it is another than the variable's.
    """

    read: Callable[[Any], Any]
    is_secret: bool = False
    setting: str = ""


DAYS = Choosable(_whole(0, 36_500))
CHOOSABLE: dict[str, Choosable] = {
    "FETCH_HOST_SPACING_SECONDS": Choosable(_number(0.1, 3600)),
    "FEED_ARTICLE_PAGES": Choosable(_switch),
    "FEED_ARTICLE_EDITS": Choosable(_switch),
    "RETENTION_ARTICLES_DAYS": DAYS,
    "RETENTION_PAGE_HTML_DAYS": DAYS,
    "RETENTION_RETRIEVALS_DAYS": DAYS,
    "RETENTION_CHECKS_DAYS": DAYS,
    "RETENTION_CHANGES_DAYS": DAYS,
    "RETENTION_SHOWN_DAYS": DAYS,
    "PICTURES_MAX_MEGABYTES": Choosable(_whole(0, 10_000_000)),
    "SIGN_UP": Choosable(_one_of("closed", "open")),
    "LIMIT_FEEDS": Choosable(_whole(0, 1_000_000)),
    "LIMIT_SITES": Choosable(_whole(0, 1_000_000)),
    "LIMIT_REQUESTS_A_DAY": Choosable(_whole(0, 100_000_000)),
    "EMAIL_URL": Choosable(_mail_server, is_secret=True),
    "MAIL_FROM": Choosable(_sender, setting="DEFAULT_FROM_EMAIL"),
}

_rows: dict[str, Any] = {}
_read_at = -math.inf


def forget() -> None:
    """Let the next question read the rows again."""
    global _read_at  # noqa: PLW0603 - one cache a process
    _read_at = -math.inf


def chosen(name: str) -> Any:
    """Return the value of a setting that is in force. Raises KeyError for one that cannot be chosen."""
    choosable = CHOOSABLE[name]
    default = getattr(settings, choosable.setting or name)
    if environment.is_given(name):
        return default
    value = _stored().get(name)
    if value is None:
        return default
    try:
        return choosable.read(secrets.unseal(value) if choosable.is_secret else value)
    except (ChoiceError, secrets.UnreadableError):  # of another version, or sealed with another key
        return default


def pause_of(host: Host) -> float:
    """Return the seconds between two requests to a host: its own, or those chosen for all."""
    return float(chosen("FETCH_HOST_SPACING_SECONDS") if host.spacing is None else host.spacing)


def choose(name: str, value: Any) -> Any:
    """Store an operator's choice, None for the default. Returns what is in force now.

    Raises ChoiceError for a value that the setting cannot have or that the environment has fixed.
    """
    if environment.is_given(name):
        raise ChoiceError(_("%(name)s is set in the environment, which wins.") % {"name": name})
    choosable = CHOOSABLE[name]
    if value is None:
        OperatorSetting.objects.filter(name=name).delete()
    else:
        read = choosable.read(value)
        stored = secrets.seal(read) if choosable.is_secret else read
        OperatorSetting.objects.update_or_create(name=name, defaults={"value": stored})
    forget()
    return chosen(name)


def chosen_by_hand(name: str) -> Any:
    """Return what is stored as an operator's choice, sealed where it is a secret; None if there is none."""
    return OperatorSetting.objects.filter(name=name).values_list("value", flat=True).first()


def _stored() -> dict[str, Any]:
    """Return the stored choices by name, read anew after `FRESH_SECONDS`.

    While the database does not answer, those last read hold: the sign-in page is shown all the same.
    """
    global _rows, _read_at  # noqa: PLW0603 - one cache a process
    if time.monotonic() - _read_at > FRESH_SECONDS:
        with suppress(OperationalError, InterfaceError, ImproperlyConfigured):
            _rows = dict(OperatorSetting.objects.values_list("name", "value"))
        _read_at = time.monotonic()
    return _rows


def put_back(name: str, stored: Any) -> None:
    """Store again what `chosen_by_hand` returned before a change."""
    if stored is None:
        OperatorSetting.objects.filter(name=name).delete()
    else:
        OperatorSetting.objects.update_or_create(name=name, defaults={"value": stored})
    forget()
