"""The price and the stock that a page states: in JSON-LD, in microdata, in Open Graph. Pure.

Sources: schema.org/Offer (price, lowPrice, priceSpecification, priceCurrency, availability), Open Graph's
product namespace. Numbers of programs have a decimal point, whatever the page's language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml import etree, html

from crawler.reading.addresses import absolute
from crawler.reading.documents import Offer
from crawler.reading.json_ld import json_ld_of
from crawler.text.characters import storable
from crawler.text.numbers import machine_number, number_in

MAX_DEPTH = 20
MAX_MARKED = 200
"""Elements of microdata about prices that are looked at."""
MAX_PARTS, MAX_STEPS = 20, 4_000
"""Chosen parts of a page, and steps through each, in which a price beside a struck-out one is looked for."""
_OFFERS = {"offer", "aggregateoffer", "offerforpurchase", "offerforlease"}
_PRODUCTS = {"product", "productgroup", "productmodel", "individualproduct", "someproducts", "vehicle", "car"}
_OTHERS = {
    "isrelatedto", "issimilarto", "isaccessoryorsparepartfor", "isconsumablefor", "itemlistelement",
    "itemreviewed", "review", "reviews", "mentions", "hasoffercatalog", "addon",
}  # fmt: skip
"""Properties that lead to other products than the page's own."""
_FORMER_PRICES = {"listprice", "strikethroughprice", "srp", "msrp", "regularprice", "suggestedretailprice"}
_CHARGES = {"deliverychargespecification", "paymentchargespecification"}
_STRUCK = ("del", "s", "strike")
_FORMER_CLASS = re.compile(
    r"(?:^|\s)(?:old|was|strike\w*|line-through|crossed-out|(?:old|was|former|previous|regular|compare)[-_]?price"
    r"|price[-_]{1,2}(?:old|was|former|previous|compare[\w-]*))(?:\s|$)",
    re.IGNORECASE,
)
"""Classes of former prices, which are struck out by style alone."""
_META = {
    "price": ("product:sale_price:amount", "product:price:amount", "og:price:amount"),
    "currency": ("product:sale_price:currency", "product:price:currency", "og:price:currency"),
    "availability": ("product:availability", "og:availability"),
}
_MICRODATA = {
    "price": "price", "lowprice": "price", "pricecurrency": "currency", "availability": "availability",
}  # fmt: skip
_NAME_PARTS = re.compile(r"\s+[|•·»«–—:-]\s+")


@dataclass(frozen=True, slots=True)
class _Thing:
    """A thing that a page describes in JSON-LD: its node, how deep it stands, and what leads to it."""

    node: dict[str, Any]
    depth: int
    is_main: bool = False
    is_other: bool = False


def offer_of(root: html.HtmlElement, url: str = "") -> Offer | None:
    """Return the offer that the page at `url` states of its own product, or None.

    The price is that of the first source that states one; what it leaves out is taken from the next.
    """
    stated = (_json_ld_offer(root, url), _microdata(root), _open_graph(root))
    offers = sorted((offer for offer in stated if offer), key=lambda offer: offer.price is None)
    if not offers:
        return None
    currency = next((offer.currency for offer in offers if offer.currency), "")
    availability = next((offer.availability for offer in offers if offer.availability), "")
    return Offer(offers[0].price, currency, availability)


def _offer(price: float | None, currency: object, availability: object) -> Offer | None:
    """Return the offer with its words in one form, None if it says nothing."""
    word = _word(availability)
    if price is None and not word:
        return None
    sign = storable(currency).strip().upper()[:8] if isinstance(currency, str) else ""
    return Offer(price, sign, word)


def _json_ld_offer(root: html.HtmlElement, url: str) -> Offer | None:
    """Return the offer of the page's own product: the first with a price, else the first with a word.

    Of several variants it is the one whose address was asked for (`?variant=2`), if there is one.
    """
    things = [thing for value in json_ld_of(root) for thing in _things(value)]
    page = _Page(root, url)
    own_things = sorted((thing for thing in things if page.shows(thing)), key=lambda thing: not thing.is_main)
    # Shop pages describe a dozen products that others bought; only the page's own has its price.
    if own_things:
        own_things += [thing for thing in things if "isVariantOf" in thing.node]
    else:
        own_things = sorted((thing for thing in things if not thing.is_other), key=_rank)
    nodes = sorted(
        (pair for thing in own_things for pair in _offers_within(thing.node)), key=page.is_elsewhere
    )
    offers = [offer for node, _ in nodes if (offer := _read(node))]
    return min(offers, key=lambda offer: offer.price is None, default=None)


def _rank(thing: _Thing) -> tuple[bool, int]:
    return not _types(thing.node) & _PRODUCTS, thing.depth


def _things(value: Any, thing: _Thing | None = None, depth: int = 0) -> Iterator[_Thing]:
    """Yield every object that is a product, has offers or is one, with what leads to it."""
    if depth > MAX_DEPTH:
        return
    is_main, is_other = (thing.is_main, thing.is_other) if thing else (False, False)
    if isinstance(value, list):
        for member in value:
            yield from _things(member, thing, depth + (thing is not None))
    elif isinstance(value, dict):
        candidate = _Thing(value, depth, is_main, is_other)
        types = _types(value)
        if types & (_PRODUCTS | _OFFERS) or "offers" in value:
            yield candidate
        for key, inner in value.items():
            if key in {"offers", "hasVariant"}:
                continue  # they are read with their product
            leads = key.lower()
            inner_thing = _Thing(
                value, depth, leads == "mainentity" and not is_other, is_other or leads in _OTHERS
            )
            yield from _things(inner, inner_thing, depth + (key != "@graph"))


def _offers_within(node: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the offers of a product and of its variants, each with its address or that of its product."""
    if _types(node) & _OFFERS:
        yield node, node.get("url")
    for product in (node, *_dicts(node.get("hasVariant"))):
        for offer in _dicts(product.get("offers")):
            yield offer, offer.get("url") or product.get("url")
            yield from ((inner_offer, inner_offer.get("url")) for inner_offer in _dicts(offer.get("offers")))


def _read(node: dict[str, Any]) -> Offer | None:
    """Return what an offer says. Its own price counts, else the price now asked for of its specifications."""
    stated = _dicts(node.get("priceSpecification"))
    specifications = sorted(
        (specification for specification in stated if _types(specification).isdisjoint(_CHARGES)),
        # A former price or one for members is not what a visitor pays.
        key=_is_special,
    )
    for specification in (node, *specifications):
        price = next(
            (
                p
                for n in ("price", "lowPrice", "minPrice")
                if (p := _amount(specification.get(n))) is not None
            ),
            None,
        )
        if price is not None:
            currency = specification.get("priceCurrency") or node.get("priceCurrency")
            return _offer(price, currency, node.get("availability"))
    return _offer(None, node.get("priceCurrency"), node.get("availability"))


def _is_special(specification: dict[str, Any]) -> bool:
    """Return whether a price is a former one, one for members, or one by measure."""
    is_former = _last(specification.get("priceType")) in _FORMER_PRICES
    return is_former or not specification.keys().isdisjoint({"validForMemberTier", "referenceQuantity"})


def _amount(value: Any) -> float | None:
    """Return a price in any of the forms in which one is stated: alone, in a list, as a value's object."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("@value", value.get("value"))
    return machine_number(value)


class _Page:
    """A page's own addresses and names, by which its product is known."""

    def __init__(self, root: html.HtmlElement, url: str) -> None:
        self._url = url
        metas = {
            (element.get("property") or element.get("name") or "").lower(): element.get("content") or ""
            for element in islice(root.iter("meta"), MAX_MARKED)
        }
        links = (
            e.get("href") or "" for e in root.iter("link") if (e.get("rel") or "").lower() == "canonical"
        )
        stated = (*islice(links, 3), metas.get("og:url", ""), url)
        self._addresses = {self._whole(address) for address in stated} - {""}
        names = [e.text_content()[:1_000] for tag in ("h1", "title") for e in islice(root.iter(tag), 3)]
        names.append(metas.get("og:title", ""))
        parts = [part for name in names for part in (name, *_NAME_PARTS.split(name[:1_000]))]
        self._names = {_plain(part) for part in parts} - {""}

    def shows(self, thing: _Thing) -> bool:
        """Return whether a product is what the page is about."""
        node = thing.node
        if not _types(node) & _PRODUCTS or (thing.is_other and "offers" not in node):
            return False
        addresses = (node.get("url"), node.get("@id"), node.get("mainEntityOfPage"))
        names = (address.get("@id") if isinstance(address, dict) else address for address in addresses)
        if thing.is_main or any(self._whole(address) in self._addresses for address in names):
            return True
        return isinstance(node.get("name"), str) and _plain(node["name"]) in self._names

    def is_elsewhere(self, offer: tuple[dict[str, Any], Any]) -> bool:
        """Return whether an offer, given with its address, has another one than the page."""
        return not self._url or self._whole(offer[1]) != self._whole(self._url)

    def _whole(self, address: Any) -> str:
        """Return a whole address without fragment and scheme, in one form, "" for none."""
        if not isinstance(address, str) or address.strip().startswith("#"):
            return ""
        # http and https of one page, and a fragment, are the same product.
        return absolute(self._url, address).partition("#")[0].partition(":")[2].rstrip("/")


def _plain(text: str) -> str:
    return " ".join(text[:1_000].casefold().split())


def _types(node: dict[str, Any]) -> set[str]:
    """Return the last words of a node's types, in small letters: `https://schema.org/Offer` is `offer`."""
    types = node.get("@type")
    return {_last(name) for name in (types if isinstance(types, list) else [types])} - {""}


def _last(name: Any) -> str:
    return re.split(r"[/#:]", name.rstrip("/"))[-1].strip().lower() if isinstance(name, str) else ""


def _dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a value that is one object or a list of them."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _microdata(root: html.HtmlElement) -> Offer | None:
    """Return the first offer in microdata that is not within a list or another product's, with its words."""
    offers: dict[html.HtmlElement, dict[str, Any]] = {}
    marked = ((element, _MICRODATA.get(_property(element), "")) for element in root.iter())
    for element, name in islice(((element, name) for element, name in marked if name), MAX_MARKED):
        owner, value = _owner(element), _microdata_value(element, name)
        if owner is not None and value is not None:
            offers.setdefault(owner, {}).setdefault(name, value)
    read = (_offer(*(fields.get(name) for name in _META)) for fields in offers.values())
    return min((offer for offer in read if offer), key=lambda offer: offer.price is None, default=None)


def _property(element: html.HtmlElement) -> str:
    return (element.get("itemprop") or "").strip().lower()


def _owner(element: html.HtmlElement) -> html.HtmlElement | None:
    """Return the offer, else the item, else the page that an element is about; None if another product's."""
    owner = None
    for ancestor in (element, *element.iterancestors()):
        is_other = ancestor.tag in _STRUCK or _last(ancestor.get("itemtype")) == "itemlist"
        if is_other or _property(ancestor) in _OTHERS:
            return None
        if (
            ancestor is not element
            and ancestor.get("itemscope") is not None
            and (
                owner is None
                or (
                    _last(ancestor.get("itemtype")) in _OFFERS and _last(owner.get("itemtype")) not in _OFFERS
                )
            )
        ):
            owner = ancestor
    return element.getroottree().getroot() if owner is None else owner


def _microdata_value(element: html.HtmlElement, name: str) -> Any:
    stated = element.get("content") or element.get("href") or element.get("value")
    if name == "price":
        # Without `content` the price is written for people, with the page's own decimal sign.
        return machine_number(stated) if stated else number_in(element.text_content()[:200])
    return stated or element.text_content()[:200]


def _open_graph(root: html.HtmlElement) -> Offer | None:
    stated: dict[str, str] = {}
    for element in root.iter("meta"):
        name = (element.get("property") or element.get("name") or "").strip().lower()
        if name.startswith(("product:", "og:")) and element.get("content"):
            stated.setdefault(name, element.get("content") or "")
    fields = {field: next((stated[n] for n in names if n in stated), "") for field, names in _META.items()}
    return _offer(machine_number(fields["price"]), fields["currency"], fields["availability"])


def unstruck_price(values: Iterable[Any]) -> Offer | None:
    """Return the price in chosen parts of a page where another one is struck out; None if none is."""
    elements = islice((value for value in values if isinstance(value, html.HtmlElement)), MAX_PARTS)
    parts = [_without_struck(element) for element in elements]
    price = number_in(" ".join(text for text, _ in parts)) if any(struck for _, struck in parts) else None
    return None if price is None else Offer(price)


def _without_struck(element: html.HtmlElement) -> tuple[str, bool]:
    """Return an element's text without what is struck out within it, and whether anything is."""
    texts: list[str | None] = []
    is_struck = False
    walk = etree.iterwalk(element, events=("start", "end", "comment"))
    for event, inner in islice(walk, MAX_STEPS):
        if event != "start":
            texts.append(inner.tail if inner is not element else "")
        elif inner is not element and _is_struck(inner):
            is_struck = True
            walk.skip_subtree()
        else:
            texts.append(inner.text)
    return " ".join("".join(text for text in texts if text)[:1_000].split()), is_struck


def _is_struck(element: html.HtmlElement) -> bool:
    return element.tag in _STRUCK or _FORMER_CLASS.search((element.get("class") or "")[:300]) is not None


def _word(availability: object) -> str:
    """Return the last part of an availability in small letters: `https://schema.org/InStock` is `instock`."""
    if isinstance(availability, list):
        availability = availability[0] if availability else ""
    if isinstance(availability, dict):
        availability = availability.get("@id") or availability.get("name") or ""
    if not isinstance(availability, str):
        return ""
    word = re.sub(r"[^a-z]", "", _last(availability[:300]))[:40]
    return word
