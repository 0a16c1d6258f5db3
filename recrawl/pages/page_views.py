"""The page of one watched page: its value, its history, how it is watched."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crawler.reading.lines import unpacked
from crawler.web.pages import wants_part
from recrawl.changes.describing import diff_rows, stock
from recrawl.changes.page_values import OFFER, value_of
from recrawl.changes.site_sentences import check_words
from recrawl.changes.value_sentences import (
    ValuePoint,
    clock,
    day_words,
    difference_text,
    short_date,
    value_sentence,
    versions_words,
)
from recrawl.changes.versions import version_count
from recrawl.comparing.differences import difference
from recrawl.comparing.values import PRICE, stated_value
from recrawl.models import Check, Site, StatedOffer, WatchedPage
from recrawl.pages.forms import settings_form
from recrawl.pages.method_sentences import SENTENCES
from recrawl.pages.series import series
from recrawl.visiting.estimators import gamma_mode

SHOWN_CHECKS, SHOWN_VERSIONS, SHOWN_VISITS, SHOWN_CHANGES = 200, 24, 8, 8
MAX_OFFERS = 200
PRIOR_SHAPE, PRIOR_DAYS = 1.5, 60.0
"""The Gamma prior of a page's rate of change. It expects a change in some months."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version as the page shows it: its value, when it came, and how its number differs from the last."""

    point: ValuePoint
    when: str
    difference: str
    lines: bytes
    stock: str = ""


def only_page(site: Site) -> WatchedPage | None:
    """Return the page of a list that has one alone. Returns None for other watches."""
    pages = list(site.pages.light()[:2]) if site.is_list else []
    return pages[0] if len(pages) == 1 else None


@never_cache
@require_safe
def page_history(request: HttpRequest, pk: int, page: int) -> HttpResponse:
    """Show one page: its value and what became of it, its history, how it is watched, its last visits."""
    site = get_object_or_404(Site.objects.light(), pk=pk)
    row = get_object_or_404(site.pages.defer("links", "look", "headers"), pk=page)
    now = datetime.now(UTC)
    offers = list(row.offers.order_by("-id")[:MAX_OFFERS])
    versions = version_rows(site, row, offers, now)
    steps = offer_rows(site, offers, now) or versions
    points = [step.point for step in steps] if versions else []
    is_single = only_page(site) is not None
    context: dict[str, Any] = {
        "site": site,
        "row": row,
        "is_single": is_single,
        "value": points[-1].value if points else None,
        "sentence": value_sentence(points, now),
        "began": day_words(site.created if is_single else row.first_seen, now),
        "looked": clock(row.fetched, now) if row.fetched else "",
        "next_look": check_words(site, now),
        "name": site.title if is_single and site.title else row.title or row.path,
        "is_reading": site.state == Site.State.MAPPING,
    }
    if wants_part(request):
        return render(request, "recrawl/_value.html", context)
    context |= _history(request, row, versions, steps, now) | _details(site, row)
    context["form"] = settings_form(site) if is_single else None
    context["is_editing"] = request.GET.get("edit") == "1"
    return render(request, "recrawl/page.html", context)


def version_rows(site: Site, page: WatchedPage, offers: list[StatedOffer], now: datetime) -> list[VersionRow]:
    """Return the newest versions of a page, the present one last; `offers` begin with the newest."""
    if page.fetched is None:
        return []
    total = version_count(page)
    fields = ("since", "until", "lines")
    former = list(page.versions.order_by("-id").values_list(*fields)[: SHOWN_VERSIONS - 1])[::-1]
    starts = [page.first_seen if len(former) == total - 1 else former[0][0]] if former else [page.first_seen]
    starts += [until for _since, until, _lines in former]
    texts = [bytes(lines) for _since, _until, lines in former] + [bytes(page.lines)]
    rows: list[VersionRow] = []
    for at, (start, lines) in enumerate(zip(starts, texts, strict=True)):
        end = starts[at + 1] if at + 1 < len(starts) else None
        value = value_of(site, lines, _offer(offers, end))
        before = rows[-1].point.value if rows else None
        point = ValuePoint(total - len(texts) + at + 1, start, value)
        words = "" if value.available is None else stock("instock" if value.available else "outofstock")
        step = difference_text(value, before)
        rows.append(VersionRow(point, short_date(start, now), step, lines, words))
    return rows


def offer_rows(site: Site, offers: list[StatedOffer], now: datetime) -> list[VersionRow]:
    """Return the offers that a page states where its whole text is watched: they change without its text."""
    if site.parts or not offers or offers[0].price is None:
        return []
    rows: list[VersionRow] = []
    for number, offer in enumerate(offers[: SHOWN_VERSIONS - 1][::-1], 1):
        value = stated_value(offer.price, offer.currency, offer.availability)
        if value is not None:
            step = difference_text(value, rows[-1].point.value if rows else None)
            words = stock(offer.availability)
            rows.append(
                VersionRow(ValuePoint(number, offer.at, value), short_date(offer.at, now), step, b"", words)
            )
    return rows


def _offer(offers: list[StatedOffer], until: datetime | None) -> dict[str, Any] | None:
    """Return the last offer that was stated before a moment; `offers` begin with the newest."""
    for offer in offers:
        if until is None or offer.at < until:
            return {name: getattr(offer, name) for name in OFFER}
    return None


def _history(
    request: HttpRequest, row: WatchedPage, versions: list[VersionRow], steps: list[VersionRow], now: datetime
) -> dict[str, Any]:
    """Return the line, the ribbon and the difference of the chosen version from the one before."""
    if not versions:
        return {"versions": []}
    numbers = [version.point.number for version in versions]
    text = request.GET.get("v", "")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    chosen = numbers.index(number) if number in numbers else len(numbers) - 1
    before = versions[chosen - 1] if chosen else None
    old, new = _texts(before), _texts(versions[chosen])
    return {
        "versions": versions[::-1],
        "count_words": versions_words(numbers[-1], len(versions)),
        "chosen": versions[chosen],
        "before": before,
        "hunks": diff_rows(difference(old, new)) if before else [],
        "older": numbers[chosen - 1] if chosen else None,
        "newer": numbers[chosen + 1] if chosen + 1 < len(numbers) else None,
        "series": series([step.point for step in steps], now),
        "steps": steps[::-1] if any(step.point.value.number is not None for step in steps) else [],
        "is_price": steps[-1].point.value.kind == PRICE,
        "has_stock": any(step.stock for step in steps),
        "changes": row.history.counting().defer("difference").order_by("-id")[:SHOWN_CHANGES],
    }


def _texts(version: VersionRow | None) -> list[str]:
    return [line[1:] for line in unpacked(version.lines)] if version else []


def _details(site: Site, row: WatchedPage) -> dict[str, Any]:
    checks = list(_checks(row)[:SHOWN_CHECKS])
    compared = {Check.Outcome.SAME, Check.Outcome.MINOR, Check.Outcome.CHANGED}
    outcomes = [
        (check.days, check.outcome == Check.Outcome.CHANGED) for check in checks if check.outcome in compared
    ]
    rate = gamma_mode(outcomes, PRIOR_SHAPE, PRIOR_DAYS) if outcomes else None
    return {
        "checks": checks[:SHOWN_VISITS],
        "expert_checks": checks[:50],
        "every_seconds": 86_400 / rate if rate else None,
        "how": SENTENCES[site.method],
    }


def _checks(row: WatchedPage) -> QuerySet[Check]:
    return row.all_checks.select_related("visit").order_by("-id")
