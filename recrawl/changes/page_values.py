"""The values of a watched page's versions, and of a change before and after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce, JSONObject

from crawler.reading.lines import unpacked
from recrawl.comparing.values import MAX_LINES, TEXT, Value, first_line, stated_value, value_in
from recrawl.models import Change, ChangeQuerySet, Site, StatedOffer, Version

OFFER = ("price", "currency", "availability")


def value_of(site: Site, lines: bytes, offer: Mapping[str, Any] | None) -> Value:
    """Return the value of a version of a page: of its lines, or of the offer that it states.

    In the whole text of a long page any number may stand first: there only a stated price is a value.
    """
    texts = site.rules().counting(unpacked(lines)) if lines else []
    stated = stated_value(offer["price"], offer["currency"], offer["availability"]) if offer else None
    if stated and not site.parts:
        return stated
    value = value_in(texts) if site.parts or len(texts) <= MAX_LINES else first_line(texts)
    return stated if stated and value.kind == TEXT else value


def with_values(changes: ChangeQuerySet) -> ChangeQuerySet:
    """Add what `values_of` reads: the lines and the stated offer before and after each change."""
    later = Version.objects.filter(page=OuterRef("page"), pk__gt=OuterRef("before")).order_by("id")
    offers = StatedOffer.objects.filter(page=OuterRef("page")).order_by("-id")
    offer = JSONObject(**{name: name for name in OFFER})
    return changes.annotate(
        lines_before=F("before__lines"),
        lines_after=Coalesce(Subquery(later.values("lines")[:1]), F("page__lines")),
        offer_before=Subquery(offers.filter(at__lt=OuterRef("at")).values(offer=offer)[:1]),
        offer_after=Subquery(offers.filter(at__lte=OuterRef("at")).values(offer=offer)[:1]),
    )


def values_of(change: Change) -> tuple[Value | None, Value]:
    """Return the value of a page before a change, None if nothing was there, and after it."""
    row: Any = change
    before = row.lines_before
    old = value_of(change.site, bytes(before), row.offer_before) if before is not None else None
    return old, value_of(change.site, bytes(row.lines_after or b""), row.offer_after)
