"""Signed addresses of pictures under /img/, and HTML in which pictures have them.

Only addresses that Freshet has made itself are fetched: the signature is a MAC with the deployment's key.
"""

from __future__ import annotations

import base64
import hmac
import html
import re
from collections.abc import Callable
from functools import cache, lru_cache

from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.http import urlencode

_IMAGE = re.compile(r"<img\b[^>]*>")
_SOURCE = re.compile(r'\ssrc="([^"]*)"')
_POSTER = re.compile(r'(<video\b[^>]*\sposter=")([^"]*)(")')
_SETS = re.compile(r'\s(?:srcset|sizes)="[^"]*"')
_OFFERED = re.compile(r"<source\b[^>]*\ssrcset=[^>]*>")
_LOADING = re.compile(r'\s(?:loading|decoding|referrerpolicy)="[^"]*"')
_SIZED = re.compile(r'\s(?:width|height)="')
_RUN = re.compile(r"<[^>]*>|[^\s<>&;]{200}")
_EAGER = 1
"""So many pictures at the beginning are loaded at once, the others when they come into view."""

MAX_SIZED = 60


def picture_address(url: str, size: str = "full") -> str:
    """Return the address of a picture of the web at this deployment; `size` is full or thumbnail."""
    if not url.startswith(("http://", "https://")):
        return ""
    return f"{_path(size)}?{urlencode({'u': url, 's': signature('picture', url)})}"


@cache
def _path(size: str) -> str:
    return reverse("picture", args=[size])


@cache
def _key(purpose: str) -> bytes:
    """Return a purpose's own key, derived from SECRET_KEY."""
    return salted_hmac(f"crawler.web.pictures.{purpose}", "", algorithm="sha256").digest()


@lru_cache(maxsize=10_000)
def icon_address(feed: int) -> str:
    """Return the address of a feed's icon at this deployment."""
    return reverse("feed-icon", args=[feed, signature("icon", str(feed))])


def signature(purpose: str, text: str) -> str:
    """Return the signature of a text for a purpose: 16 letters."""
    digest = hmac.digest(_key(purpose), text.encode("utf-8", "surrogatepass"), "sha256")
    return base64.urlsafe_b64encode(digest[:12]).decode()


def is_signed(purpose: str, text: str, supplied_signature: str) -> bool:
    """Return whether a signature is that of the text."""
    return constant_time_compare(signature(purpose, text), supplied_signature)


def with_own_pictures(body: str, size_of: Callable[[str], tuple[int, int] | None] = lambda _: None) -> str:
    """Return sanitised HTML in which every picture is loaded from this deployment.

    `size_of` gives the width and height of a picture in pixels where they are known, so that the browser
    keeps its place free; it is asked for the first MAX_SIZED pictures that have neither. Runs of hundreds of
    letters may be broken: browsers take minutes to set one of hundreds of thousands.
    """
    count = 0

    def own(image: re.Match[str]) -> str:
        nonlocal count
        source = _SOURCE.search(image[0])
        if source is None:
            return image[0]
        count += 1
        address = picture_address(html.unescape(source[1]))
        bare = _LOADING.sub("", _SETS.sub("", image[0].replace(source[0], "", 1)))
        size = size_of(html.unescape(source[1])) if count <= MAX_SIZED and not _SIZED.search(bare) else None
        if size:
            bare = f'<img width="{size[0]}" height="{size[1]}"{bare.removeprefix("<img")}'
        lazy = "" if count <= _EAGER else ' loading="lazy"'
        return f'<img src="{html.escape(address)}"{lazy} decoding="async"{bare.removeprefix("<img")}'

    own_body = _RUN.sub(_breakable, _IMAGE.sub(own, _OFFERED.sub("", body)))
    return _POSTER.sub(
        lambda match: f"{match[1]}{html.escape(picture_address(html.unescape(match[2])))}{match[3]}", own_body
    )


def _breakable(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith("<") else f"{match[0]}<wbr>"
