"""Ids of items and streams in Google Reader's notation. Uses no database.

Items: `tag:google.com,2005:reader/item/000000000000001f` (long), `000000000000001f`, or `31` (short).
Streams: `user/-/state/com.google/reading-list`, `user/-/label/News`, `feed/12` or `feed/https://...`; the id
or name of the requesting user may replace the hyphen.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

ITEM = "tag:google.com,2005:reader/item/"
READING_LIST = "user/-/state/com.google/reading-list"
READ = "user/-/state/com.google/read"
STARRED = "user/-/state/com.google/starred"
LABEL = "user/-/label/"
FEED = "feed/"

State = Literal["reading-list", "starred", "read", "unread", "other"]

_HEX = re.compile(r"[0-9a-fA-F]{1,16}")
_BARE_HEX = re.compile(r"[0-9a-fA-F]{16}")
_DECIMAL = re.compile(r"-?[0-9]{1,19}")
_STREAM = re.compile(r"user/([^/]+)/(?:state/com\.google|(label))/(.+)", re.DOTALL)
_STATE = re.compile(r"[a-z-]{1,60}")
_STATES: dict[str, State] = {
    "reading-list": "reading-list",
    "starred": "starred",
    "read": "read",
    "kept-unread": "unread",
    "unread": "unread",
}


class BadInput(ValueError):
    """Error for a request of a reader app that is not understood; the message says why, for people."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream: `name` is a `State`, the label's text, or the text after `feed/`."""

    kind: Literal["state", "label", "feed"]
    name: str


def item_id(key: int) -> str:
    """Return the long id of the article with this primary key."""
    return f"{ITEM}{key:016x}"


def item_key(text: str) -> int:
    """Return the primary key in an item id of any form, which need not exist. Raises BadInput."""
    short = text.removeprefix(ITEM)
    if (short != text and _HEX.fullmatch(short)) or _BARE_HEX.fullmatch(short):
        value = int(short, 16)
        return value - 2**64 if value >= 2**63 else value  # the original's ids were signed
    if _DECIMAL.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    raise BadInput(f"{text[:100]!r} is not the id of an item")


def stream(text: str, own_names: Collection[str]) -> Stream:
    """Parse the id of a stream. States that Freshet does not store become "other". Raises BadInput."""
    if text.startswith(FEED) and text != FEED:
        return Stream("feed", text.removeprefix(FEED))
    if text in _STATES:  # some apps leave the rest out, as FreshRSS lets them
        return Stream("state", _STATES[text])
    match = _STREAM.fullmatch(text)
    if match is None:
        raise BadInput(f"{text[:100]!r} is not the id of a stream")
    user, is_label, name = match.groups()
    if user not in {"-", *own_names}:
        raise BadInput(f"{text[:100]!r} belongs to somebody else")
    if is_label:
        return Stream("label", name)
    if not _STATE.fullmatch(name):
        raise BadInput(f"{text[:100]!r} is not the id of a stream")
    return Stream("state", _STATES.get(name, "other"))


def label(text: str, own_names: Collection[str]) -> str:
    """Return the name of the folder in a stream id. Raises BadInput for other streams."""
    label_stream = stream(text, own_names)
    if label_stream.kind != "label":
        raise BadInput(f"{text[:100]!r} is not a label")
    return label_stream.name
