"""The values that another feed reader's account is turned into. Knows no Django.

Times are seconds since the epoch (UTC).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from crawler.reading.limits import LIMITS
from crawler.text.characters import one_line, storable
from crawler.text.marking import gettext_noop

MAX_CONTENT = 500_000
"""Characters of one item's HTML; the rest is cut."""
MAX_LABELS = 50
MAX_TIME = 10**17
"""Microseconds of a time, which are the smallest part that programs write."""


class MovedFeed(msgspec.Struct, frozen=True):
    """A subscription: its address, the title that the person sees, and its folder."""

    url: str
    title: str = ""
    folder: str = ""


class MovedItem(msgspec.Struct, frozen=True):
    """An item of a feed with the person's marks. Fields are empty or None if the server does not say.

    `identity` is the feed's own guid or id. `content` is HTML, as the server gave it or, out of the programs,
    sanitised with `text` as its words. `starred` is a time, 0.0 for an unknown one, None if there is no star.
    """

    feed_url: str
    url: str = ""
    title: str = ""
    identity: str = ""
    author: str = ""
    content: str = ""
    published: float | None = None
    read: bool = False
    starred: float | None = None
    labels: tuple[str, ...] = ()
    text: str = ""


class ForeignFilter(msgspec.Struct, frozen=True):
    """A filter as the program "miniflux", "freshrss" or "newsblur" writes it.

    `text` is a JSON object. It holds for one feed, for one folder, or for all if neither is named.
    """

    program: str
    text: str
    feed_url: str = ""
    folder: str = ""


class MovedPart(msgspec.Struct, frozen=True):
    """A part of an account. `cursor` leads to the next one, "" after the last.

    `left_out` holds sentences for people that name what cannot come; `about` estimates the items of all
    parts, -1 if unknown; `wait` is the number of seconds that the server asks to wait before the next part.
    """

    feeds: tuple[MovedFeed, ...] = ()
    items: tuple[MovedItem, ...] = ()
    filters: tuple[ForeignFilter, ...] = ()
    left_out: tuple[str, ...] = ()
    cursor: str = ""
    about: int = -1
    wait: float = 0


class ForeignAccount(msgspec.Struct, frozen=True):
    """An account at another feed reader, and up to where it was read. Its secret is in no text made of it.

    `kind` is "greader", "fever" or "miniflux"; `items` is the number of items wanted at once.
    """

    kind: str
    url: str
    login: str = ""
    secret: str = ""
    cursor: str = ""
    items: int = 250

    def __repr__(self) -> str:
        return f"ForeignAccount({self.kind!r}, {self.url!r}, {self.login!r})"


class MovingError(Exception):
    """Error for an account or file that cannot be read: `kind`, and `detail` for people.

    Never a server's own words, which may repeat a password.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind, self.detail = kind, detail


AnyCursor = TypeVar("AnyCursor", bound=msgspec.Struct)


def cursor_in(written: str, kind: type[AnyCursor]) -> AnyCursor:
    """Return the place in an account that `cursor_text` wrote, the beginning for "". Raises MovingError."""
    try:
        return msgspec.json.decode(written, type=kind) if written else kind()
    except msgspec.MsgspecError:
        raise MovingError("malformed", gettext_noop("the place in the account was not understood")) from None


def cursor_text(cursor: msgspec.Struct) -> str:
    """Return the place in an account as the row of a move keeps it."""
    return msgspec.json.encode(cursor).decode()


def moved_feed(url: object, title: object = "", folder: object = "") -> MovedFeed | None:
    """Return a feed with texts that can be stored, None for one without a web address."""
    address = web_url(url)
    if not address:
        return None
    return MovedFeed(address, one_line(text(title), 400), one_line(text(folder), LIMITS.name))


def moved_item(
    *,
    feed_url: str = "",
    url: object = "",
    title: object = "",
    identity: object = "",
    author: object = "",
    content: object = "",
    published: float | None = None,
    read: bool = False,
    starred: float | None = None,
    labels: Iterable[object] = (),
) -> MovedItem:
    """Return an item with texts that can be stored, cut to their bounds. Values of a wrong type are empty."""
    names = dict.fromkeys(one_line(text(label), LIMITS.name) for label in labels)
    return MovedItem(
        feed_url=web_url(feed_url),
        url=web_url(url),
        title=one_line(text(title), LIMITS.title),
        identity=storable(text(identity), LIMITS.address).strip(),
        author=one_line(text(author), LIMITS.name),
        content=storable(text(content), MAX_CONTENT),
        published=published,
        read=read,
        starred=starred,
        labels=tuple(name for name in names if name)[:MAX_LABELS],
    )


def web_url(value: object) -> str:
    """Return an address of the web, "" for anything else."""
    address = storable(text(value), LIMITS.address + 1).strip()
    is_web = address.lower().startswith(("http://", "https://")) and len(address) <= LIMITS.address
    return address if is_web else ""


def site_key(value: object) -> str:
    """Return what an address of a site is known by, with http or https, with a slash at its end or none."""
    return web_url(value).partition("://")[2].rstrip("/")


def text(value: object) -> str:
    """Return a text as it is and a whole number as digits, "" for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def ids(value: object) -> list[int]:
    """Return whole numbers that are written with commas between them, or as a list; others are left out."""
    parts = value if isinstance(value, list) else text(value).split(",")
    return [key for part in parts if (key := number(part)) is not None]


def fields(value: object) -> Mapping[str, Any]:
    """Return an object of JSON, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Mapping[str, Any]]:
    """Return the objects in a list of JSON, none for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def number(value: object) -> int | None:
    """Return a whole number that is one or is written as one, None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if math.isfinite(value) else None
    if isinstance(value, int):
        return value
    digits = value.strip() if isinstance(value, str) else ""
    is_number = digits.removeprefix("-").isdecimal() and digits.isascii() and len(digits) <= 20
    return int(digits) if is_number else None


def first_time(*values: object) -> float | None:
    """Return the first of some times that is one, None if none is."""
    return next((seconds for value in values if (seconds := time_of(value)) is not None), None)


def time_of(value: object) -> float | None:
    """Return the seconds of a time in seconds, milliseconds, microseconds or ISO 8601, None for others.

    A time without a zone is taken for UTC. One before 1980 or after 2200 is none: that is how programs write
    an unknown time.
    """
    seconds: float | None = None
    if (whole := number(value)) is not None:
        seconds = float(whole) if abs(whole) < MAX_TIME else 0.0
        while abs(seconds) > 1e11:
            seconds /= 1000
    elif isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip().replace(" UTC", "+00:00")[:40])
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    return seconds if seconds is not None and 315_532_800 < seconds < 7_258_118_400 else None
