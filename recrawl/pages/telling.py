"""The wish to be told of a page that was just put under watch, for whoever writes the messages."""

from __future__ import annotations

from dataclasses import dataclass

from django.dispatch import Signal

telling_wanted = Signal()
"""Sent with `user`, `page` (WatchedPage) and `wish` (TellingWish)."""


@dataclass(frozen=True, slots=True)
class TellingWish:
    """When a person wants to be told of a page, and where: keys of places, or their own mail address."""

    condition: str = ""
    number: float | None = None
    places: tuple[int, ...] = ()
    own_mail: bool = False

    @property
    def is_wish(self) -> bool:
        """True if more is wanted than the list of changes, which needs no rule."""
        return bool(self.condition or self.places or self.own_mail)
