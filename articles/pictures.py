"""The picture that stands for an article in lists."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

from crawler.web.syndication.item import web_url

MAX_TRIED = 5
MIN_WIDTH, MIN_HEIGHT = 100, 60
"""Pixels: smaller pictures are signs and counters."""
_IMAGE = re.compile(r"<img\b[^>]*>")
_SOURCE = re.compile(r'\bsrc="([^"]+)"')
_SIZE = re.compile(r'\b(width|height)="(\d{1,5})"')


def first_picture(sanitised: str) -> str:
    """Return the address of the first picture of sanitised HTML that is large enough, "" without one."""
    for number, image in enumerate(_IMAGE.finditer(sanitised)):
        if number == MAX_TRIED:
            break
        sizes = {name: int(pixels) for name, pixels in _SIZE.findall(image[0])}
        if 0 < sizes.get("width", 0) < MIN_WIDTH or 0 < sizes.get("height", 0) < MIN_HEIGHT:
            continue
        source = _SOURCE.search(image[0])
        if source and (address := web_url(html.unescape(source[1]))):
            return address
    return ""


def attached_picture(enclosures: Iterable[Any]) -> str:
    """Return the address of the first attached picture, "" without one."""
    addresses = (
        web_url(str(enclosure.get("url", "")))
        for enclosure in enclosures
        if isinstance(enclosure, dict) and _is_picture(enclosure)
    )
    return next((address for address in addresses if address), "")


def _is_picture(enclosure: dict[str, Any]) -> bool:
    """Return whether an enclosure is a picture by its type, or without one by its medium (Media RSS)."""
    kind = str(enclosure.get("type", ""))
    return kind.startswith("image/") or (not kind and enclosure.get("medium") == "image")
