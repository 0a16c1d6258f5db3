"""The parts of a page that the watch form offers, read from the page and, if wanted, seen by a browser."""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.core.cache import cache
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext_lazy

from crawler.failures import FetchError
from crawler.fetching.browser.look import LookJob, look, missing
from crawler.fetching.http.client import ACCEPT_PAGE
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.fetching.sandboxed import client
from crawler.fetching.sandboxed.client import FetchLimits
from crawler.isolation.calls import ProgramError
from crawler.text.keys import digest
from crawler.text.records import Record
from crawler.web.sentences import translated
from crawler.web.templatetags.freshet import amount
from feeds.phrases import failure_words
from recrawl.comparing.values import AVAILABILITY, NUMBER, PRICE, Value, value_in
from recrawl.pages.part_candidates import LIST, NAME, WHOLE, PageParts, PartCandidate
from recrawl.pages.parts_program import PARTS, PICTURE_PIXELS, SHOWN_PIXELS, SMALL_PICTURE

FETCH_SECONDS, READ_SECONDS, LOOK_SECONDS = 12.0, 10.0, 25.0
MAX_BYTES = 10_000_000
KEPT_SECONDS = 300
"""Seconds for which a page that was read is kept, while somebody picks parts of it."""
MIN_WORDS = 12
"""A page with fewer words is likely empty without JavaScript."""
MAX_PICTURE = 30_000
"""Bytes of the picture in the page."""
DISCOUNT = 0.96
NAMES = {
    "price": pgettext_lazy("part of a page", "Price"),
    "stock": pgettext_lazy("part of a page", "Availability"),
    "name": pgettext_lazy("part of a page", "Name"),
    "description": pgettext_lazy("part of a page", "Description"),
    "list": pgettext_lazy("part of a page", "List"),
    "all": pgettext_lazy("part of a page", "The whole text"),
}

client.programs.add_module("recrawl.pages.parts_program")


class PickablePage(Record, frozen=True):
    """A page as the form shows it; `trouble` says why there are no parts, `picture` is WebP.

    `is_file` says that it is a document without parts: a PDF, a table, JSON.
    """

    parts: PageParts
    picture: bytes = b""
    is_seen: bool = False
    trouble: str = ""
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class PartChoice:
    """A part that can be picked: what a form sends, its name and words, and the address that toggles it."""

    value: str
    name: str
    words: str
    is_chosen: bool
    address: str
    area: tuple[int, int, int, int] | None


def watch_context(address: str, picked: list[str], *, with_picture: bool = False) -> dict[str, Any]:
    """Return what the watch form shows of a page: its parts, the picked ones, what they say, when to tell."""
    page = read_page(address, with_picture=with_picture)
    candidates = [part for part in page.parts.parts if part.kind != NAME]
    values = {_value(part) for part in candidates}
    chosen = [part for part in picked if part in values] if picked else likely_parts(candidates)
    written = [part for part in picked if part and part not in values]
    choices = [_choice(part, chosen, address, with_picture=with_picture) for part in candidates]
    texts = [part.text for part in candidates if _value(part) in chosen and part.text]
    value = value_in(texts) if texts else None
    is_list = any(part.kind == LIST and _value(part) in chosen for part in candidates)
    parameters: dict[str, Any] = {"url": address, "part": picked, "picture": 1}
    picture = page.picture if len(page.picture) <= MAX_PICTURE else b""
    return {
        "page_title": page.parts.title,
        "trouble": page.trouble,
        "is_file": page.is_file,
        "choices": choices,
        "written": written,
        "compared": texts,
        "value": value,
        "recognised": recognised(candidates),
        "needs_browser": page.is_seen and not _is_in_source(address, page, chosen, with_picture=with_picture),
        "picture": f"data:image/webp;base64,{base64.b64encode(picture).decode()}" if picture else "",
        "picture_size": PICTURE_PIXELS,
        "can_show": not missing() and not picture,
        "picture_address": f"?{urlencode(parameters, doseq=True)}",
        "telling": telling_choices(
            value,
            is_list=is_list,
            has_stock=any(p.kind == "stock" for p in candidates),
            is_file=page.is_file,
        ),
        "bound": bound_below(value),
        "sign": value.money.currency if value and value.money else "",
    }


def read_page(address: str, *, with_picture: bool = False) -> PickablePage:
    """Return the parts of a page, seen by a browser if it is empty without JavaScript."""
    try:
        url = canonical_url(address)
    except BadUrl as error:
        return PickablePage(PageParts("", ()), trouble=f"{capfirst(translated(error.reason))}.")
    key = f"watch-parts:{digest(f'{url} {with_picture}')}"
    encoded_page = cache.get(key)
    if encoded_page is not None:
        return msgspec.msgpack.decode(encoded_page, type=PickablePage)
    page = _seen(url) if with_picture else _fetched(url)
    if not with_picture and not page.trouble and _words(page) < MIN_WORDS and not missing():
        browser_page = _seen(url)
        page = browser_page if _words(browser_page) > _words(page) else page
    if not page.trouble:
        cache.set(key, msgspec.msgpack.encode(page), KEPT_SECONDS)
    return page


def likely_parts(candidates: list[PartCandidate]) -> list[str]:
    """Return the parts that are picked at first: price and availability, or else the whole text."""
    kinds = {part.kind: _value(part) for part in candidates}
    likely = [kinds[kind] for kind in ("price", "stock") if kind in kinds]
    return likely or [""]


def recognised(candidates: list[PartCandidate]) -> str:
    """Return a sentence about what was picked, empty if nothing was recognised."""
    kinds = {part.kind for part in candidates}
    if {"price", "stock"} <= kinds:
        return _("Freshet recognised a product, and picked its price and availability.")
    if "price" in kinds:
        return _("Freshet recognised a price, and picked it.")
    return _("Freshet recognised an availability, and picked it.") if "stock" in kinds else ""


def bound_below(value: Value | None) -> str:
    """Return a number a little below a value, as a first proposal for a bound."""
    if value is None or value.number is None or value.number <= 0:
        return ""
    lower = value.number * DISCOUNT
    unit: float = 10.0 ** (math.floor(math.log10(lower)) - 1)
    return f"{math.floor(lower / unit) * unit:.10g}"


def telling_choices(
    value: Value | None, *, is_list: bool, has_stock: bool, is_file: bool = False
) -> list[str]:
    """Return the conditions that fit the type of what is watched, the likeliest first."""
    if value is not None and value.kind == PRICE:
        return ["below", "falls", *(["available"] if has_stock else []), "any"]
    if value is not None and value.kind == NUMBER:
        return ["below", "above", "falls", "any"]
    if value is not None and value.kind == AVAILABILITY:
        return ["available", "any"]
    if is_file:
        return ["any", "added", "removed", "words"]
    return ["added", "any", "words"] if is_list else ["any", "words", "added"]


def _value(part: PartCandidate) -> str:
    return f"css:{part.selector}" if part.selector else ""


def _choice(part: PartCandidate, chosen: list[str], address: str, *, with_picture: bool) -> PartChoice:
    value = _value(part)
    toggled = (
        [part_value for part_value in chosen if part_value != value]
        if value in chosen
        else [*filter(None, chosen), value]
    )
    query: dict[str, Any] = {
        "url": address,
        "part": toggled or [""],
        **({"picture": 1} if with_picture else {}),
    }
    words = ngettext("%(number)s word", "%(number)s words", part.words) % {"number": amount(part.words)}
    text = part.text if part.kind != WHOLE else _("%(words)s, without menus") % {"words": words}
    address_of = f"?{urlencode(query, doseq=True)}"
    return PartChoice(value, str(NAMES[part.kind]), text, value in chosen, address_of, _area(part.box))


def _area(box: tuple[int, ...]) -> tuple[int, int, int, int] | None:
    """Return a box in pixels of the small picture, None if it is not in it."""
    if len(box) != 4 or box[1] >= SHOWN_PIXELS[1] or box[0] >= SHOWN_PIXELS[0]:
        return None
    left, top, width, height = (round(number * PICTURE_PIXELS[0] / SHOWN_PIXELS[0]) for number in box)
    return left, top, max(width, 24), max(min(height, PICTURE_PIXELS[1] - top), 24)


def _is_in_source(address: str, page: PickablePage, chosen: list[str], *, with_picture: bool) -> bool:
    """Return whether the page's own HTML has the picked parts, so that watching them needs no browser."""
    source = read_page(address) if with_picture else page
    return not source.is_seen and set(chosen) <= {_value(part) for part in source.parts.parts}


def _fetched(url: str) -> PickablePage:
    try:
        document = client.fetch(url, FetchLimits(ACCEPT_PAGE, FETCH_SECONDS, MAX_BYTES))
        return PickablePage(_parts(document.body, document.content_type))
    except ProgramError as error:
        return _unread(error.kind)


def _seen(url: str) -> PickablePage:
    try:
        rendering = look(LookJob(url, seconds=LOOK_SECONDS, boxes=True))
        parts = _parts(rendering.html.encode(), "text/html; charset=utf-8")
        return PickablePage(
            parts, _small(rendering.screenshot) if rendering.screenshot else b"", is_seen=True
        )
    except (ProgramError, FetchError) as error:
        return _unread(error.kind)


def _unread(kind: str) -> PickablePage:
    words = capfirst(failure_words(kind, None, datetime.now(UTC)))
    return PickablePage(PageParts("", ()), trouble=f"{words}.", is_file=kind == "unsupported-type")


def _parts(body: bytes, content_type: str) -> PageParts:
    request = {"name": PARTS, "content_type": content_type}
    reply = client.programs.call(PARTS, request, body, seconds=READ_SECONDS, max_bytes=1_000_000)
    return msgspec.msgpack.decode(reply, type=PageParts)


def _small(picture: bytes) -> bytes:
    request = {"name": SMALL_PICTURE}
    return client.programs.call(SMALL_PICTURE, request, picture, seconds=READ_SECONDS, max_bytes=1_000_000)


def _words(page: PickablePage) -> int:
    return page.parts.parts[-1].words if page.parts.parts else 0
