"""The price and the stock that a page states: in JSON-LD, in microdata, in Open Graph. Pure.

Sources: schema.org/Offer (price, lowPrice, priceCurrency, availability), Open Graph's product namespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson
from lxml import html

from crawler.reading.documents import Offer
from crawler.text.characters import storable
from crawler.text.numbers import number_in

MAX_DEPTH = 20
MAX_BLOCKS = 50
_OFFERS = {"Offer", "AggregateOffer"}
_META = {
    "price": ("product:price:amount", "og:price:amount"),
    "currency": ("product:price:currency", "og:price:currency"),
    "availability": ("product:availability", "og:availability"),
}


def offer_of(root: html.HtmlElement) -> Offer | None:
    """Return the first offer that a page states, or None."""
    for fields in (*_json_ld_offers(root), _microdata(root), _open_graph(root)):
        price = number_in(fields.get("price", ""))
        availability = _word(fields.get("availability", ""))
        if price is not None or availability:
            return Offer(price, storable(fields.get("currency", "")).strip().upper()[:8], availability)
    return None


def json_ld_of(root: html.HtmlElement) -> list[Any]:
    """Return the values of a page's JSON-LD scripts; damaged ones are left out."""
    values = []
    scripts = (element for element in root.iter("script") if _is_json_ld(element))
    for _, script in zip(range(MAX_BLOCKS), scripts, strict=False):
        try:
            values.append(orjson.loads(script.text or ""))
        except ValueError:
            continue
    return values


def _is_json_ld(script: html.HtmlElement) -> bool:
    return (script.get("type") or "").partition(";")[0].strip().lower() == "application/ld+json"


def _json_ld_offers(root: html.HtmlElement) -> Iterator[dict[str, str]]:
    for value in json_ld_of(root):
        for node in _nodes(value):
            types = node.get("@type")
            if _OFFERS.isdisjoint(types if isinstance(types, list) else [types]):
                continue
            prices = (node.get(name) for name in ("price", "lowPrice"))
            price = next((price for price in prices if isinstance(price, str | int | float)), "")
            fields = {
                "price": price,
                "currency": node.get("priceCurrency"),
                "availability": node.get("availability"),
            }
            yield {name: str(words) for name, words in fields.items() if isinstance(words, str | int | float)}


def _nodes(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _nodes(one, depth + 1)


def _microdata(root: html.HtmlElement) -> dict[str, str]:
    fields: dict[str, str] = {}
    names = {
        "price": "price",
        "lowPrice": "price",
        "priceCurrency": "currency",
        "availability": "availability",
    }
    for element in root.iter():
        name = names.get(element.get("itemprop") or "")
        if name and name not in fields:
            value = element.get("content") or element.get("href") or element.text_content()[:200]
            fields[name] = value
    return fields


def _open_graph(root: html.HtmlElement) -> dict[str, str]:
    named = {name: field for field, names in _META.items() for name in names}
    fields: dict[str, str] = {}
    for element in root.iter("meta"):
        field = named.get(element.get("property") or element.get("name") or "")
        if field:
            fields.setdefault(field, element.get("content") or "")
    return fields


def _word(availability: str) -> str:
    """Return the last part of an availability in small letters: `https://schema.org/InStock` is `instock`."""
    return re.sub(r"[^a-z]", "", availability.rstrip("/").rpartition("/")[2].lower())[:40]
