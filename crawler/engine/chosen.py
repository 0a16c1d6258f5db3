"""Settings that operators change while Freshet runs.

The environment wins over their choice, and their choice over the default.

A choice reaches every process within `FRESH_SECONDS`; `CHOOSABLE` says of each from when on it is in force.
The variables that cannot be chosen are in `crawler.engine.left_out`, with the reasons.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parseaddr
from enum import StrEnum
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


class InForce(StrEnum):
    """A moment from which a choice is in force."""

    AT_ONCE = "at once"
    NEXT_ROUND = "from the next round of visits"
    RESTART = "after a restart"


class Origin(StrEnum):
    """A place from which the value in force comes."""

    ENVIRONMENT = "environment"
    CHOSEN = "chosen"
    DEFAULT = "default"


class ChoiceError(ValueError):
    """A value that a setting cannot have; its text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class NumberReader:
    """A reader of numbers between two limits. Called with a value, it returns it, or raises ChoiceError."""

    least: float
    most: float
    is_whole: bool = False

    def __call__(self, value: Any) -> float:
        """Return the number that a value says, a whole one as an int."""
        try:
            number = float(str(value).strip().replace(",", "."))
        except ValueError:
            raise ChoiceError(_("That must be a number.")) from None
        # "nan" and "inf" are numbers to float().
        if not math.isfinite(number) or not self.least <= number <= self.most:
            limits = {"least": f"{self.least:.15g}", "most": f"{self.most:.15g}"}
            raise ChoiceError(_("That must be a number from %(least)s to %(most)s.") % limits)
        if not self.is_whole:
            return number
        if number != int(number):
            raise ChoiceError(_("That must be a whole number."))
        return int(number)


def _whole(minimum: int, maximum: int) -> NumberReader:
    return NumberReader(minimum, maximum, is_whole=True)


def _number(minimum: float, maximum: float) -> NumberReader:
    return NumberReader(minimum, maximum)


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise ChoiceError(_("That must be one of: %(words)s.") % {"words": ", ".join(words)})
        return str(value)

    return read


def read_switch(value: Any) -> bool:
    """Return whether a value says yes, as forms and the environment say it."""
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

    `setting` is its name among Django's settings, where it is another than the variable's. `in_force` is when
    a choice holds.
    """

    read: Callable[[Any], Any]
    is_secret: bool = False
    setting: str = ""
    in_force: InForce = InForce.NEXT_ROUND


def _at_once(read: Callable[[Any], Any], setting: str = "") -> Choosable:
    return Choosable(read, setting=setting, in_force=InForce.AT_ONCE)


DAYS = Choosable(_whole(0, 36_500))
CHOOSABLE: dict[str, Choosable] = {
    "FETCH_HOST_SPACING_SECONDS": Choosable(_number(0.1, 3600)),
    "FEED_ARTICLE_PAGES": Choosable(read_switch),
    "FEED_ARTICLE_EDITS": Choosable(read_switch),
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
    # The scheduler writes both into its table when it starts (crawler.engine.schedule).
    "FEED_TICK_SECONDS": Choosable(_whole(1, 86_400), in_force=InForce.RESTART),
    "FRONTIER_TEND_SECONDS": Choosable(_whole(1, 3600), in_force=InForce.RESTART),
    "FEED_MIN_GAP_SECONDS": Choosable(_whole(0, 604_800)),
    "FEED_TRAINING_DAYS": Choosable(_number(0, 3650)),
    "CRAWL_HOSTS_IN_FLIGHT": _at_once(_whole(1, 1_000_000)),
    "CRAWL_LEASE_SLACK_SECONDS": _at_once(_number(1, 3600)),
    "PIPELINE_STORED": _at_once(read_switch),
    "PIPELINE_HASH_MAIL": _at_once(read_switch),
    "PIPELINE_RDFA": _at_once(read_switch),
    "PIPELINE_FILES": _at_once(read_switch),
    "MODEL_SECONDS": _at_once(_whole(1, 400)),
    "MODEL_DAILY_ANSWERS": _at_once(_whole(0, 1_000_000)),
    "SIGN_IN_MAX_FAILURES": _at_once(_whole(5, 1_000_000)),
    "SIGN_UP_PER_ADDRESS": _at_once(_whole(1, 1_000_000)),
    "AUTH_PROXY_SIGN_UP": _at_once(read_switch),
    "OIDC_SIGN_UP": _at_once(read_switch),
    "ASSISTANTS": _at_once(read_switch, "ASSISTANTS_ENABLED"),
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
    # The environment first: an operator of containers must be able to rely on what the file says.
    if environment.is_given(name):
        return default
    value = _stored().get(name)
    if value is None:
        return default
    try:
        return choosable.read(secrets.unseal(value) if choosable.is_secret else value)
    # A choice of a newer version or another key must not keep every page from being shown.
    except (ChoiceError, secrets.UnreadableError):  # of another version, or sealed with another key
        return default


def origin_of(name: str) -> Origin:
    """Return where the value of a setting comes from. A choice that cannot be read counts as none."""
    if environment.is_given(name):
        return Origin.ENVIRONMENT
    value = _stored().get(name)
    if value is None or not _is_readable(CHOOSABLE[name], value):
        return Origin.DEFAULT
    return Origin.CHOSEN


def _is_readable(choosable: Choosable, value: Any) -> bool:
    try:
        choosable.read(secrets.unseal(value) if choosable.is_secret else value)
    except (ChoiceError, secrets.UnreadableError):
        return False
    return True


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
        # Also after a failure: a database that is away would be asked by every request.
        _read_at = time.monotonic()
    return _rows


def put_back(name: str, stored: Any) -> None:
    """Store again what `chosen_by_hand` returned before a change."""
    if stored is None:
        OperatorSetting.objects.filter(name=name).delete()
    else:
        OperatorSetting.objects.update_or_create(name=name, defaults={"value": stored})
    forget()
