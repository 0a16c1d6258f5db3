"""The update rule of watched pages: what an answer changes in a page's row, when, and why. Pure.

`decide` takes what matters of the old row, the answer, whose time is the decision's, and the rules of the
site. `recrawl.visiting.check_in` reads rows and writes.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal

from crawler.frontier.budgets import MAX_REDIRECTS
from crawler.messages import Harvest
from crawler.reading.documents import CrawledPage, Offer
from crawler.reading.lines import Rules, normalized, unpacked
from crawler.text.keys import digest, digest_of_bytes
from crawler.text.reasons import Reason
from recrawl.comparing.conditions import Conditions, Prices
from recrawl.comparing.differences import Difference, compared, difference
from recrawl.comparing.visual import VisualDifference, region, visual_difference

Outcome = Literal["same", "minor", "changed", "new", "gone", "moved", "failed"]
"""The outcomes of `recrawl.models.Check`."""
NO_DIFFERENCE = Difference()
READ: frozenset[Outcome] = frozenset({"same", "minor", "changed"})
"""Outcomes of pages whose stored copy was compared with an answer."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """The columns of a page that decide what an answer changes, as they were before it."""

    state: str = "found"
    title: str = ""
    fetched: datetime | None = None
    etag: str = ""
    last_modified: str = ""
    checks: int = 0
    changes: int = 0
    lines: bytes = b""
    selectors: uuid.UUID | None = None
    links: Collection[int] = ()
    price: float | None = None
    look: bytes = b""


COLUMNS = tuple(field.name for field in fields(PageRow))


@dataclass(frozen=True, slots=True)
class PageRules:
    """The rules of a site: lines that count, conditions of a report, and how pages are read and seen."""

    lines: Rules
    conditions: Conditions
    selectors: uuid.UUID
    is_list: bool = False
    keep_copies: bool = False
    visual_percent: float = 0.0
    visual_ignored: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """An answer: its harvest, the keys of its `links` within the site by URL, and the visit's number.

    `hops` counts the redirects in a row that led to the page.
    """

    harvest: Harvest
    visit: int
    links: Mapping[str, int]
    hops: int = 0

    @property
    def at(self) -> datetime:
        """The time of the answer."""
        return datetime.fromtimestamp(self.harvest.at, UTC)

    @property
    def page(self) -> CrawledPage | None:
        """The page that was read. None after a failure, a redirect, or when nothing has changed."""
        harvest = self.harvest
        is_page = not harvest.failure and not harvest.unchanged and harvest.status in {200, 226}
        return harvest.brought(CrawledPage) if is_page else None


@dataclass(frozen=True, slots=True)
class NotedChange:
    """A change to record, of a kind of `recrawl.models.Change`, in `words` or else in its changed lines.

    With `keeps_former` the copy that it replaces is kept as a version.
    """

    kind: str
    gain: Difference = NO_DIFFERENCE
    words: str = ""
    visual: VisualDifference | None = None
    keeps_former: bool = False


@dataclass(frozen=True, slots=True)
class PageDecision:
    """The outcome of a fetch, which is the reason, the columns that it changes, and a change to record.

    `new_links` are on the page for the first time; a redirect is to be followed to `follows`.
    """

    outcome: Outcome
    changes: Mapping[str, Any]
    note: NotedChange | None = None
    new_links: Sequence[str] = ()
    follows: str = ""


def decide(row: PageRow, page_answer: PageAnswer, rules: PageRules) -> PageDecision:
    """Return what an answer changes in a page's row, and what of it is to be recorded."""
    harvest = page_answer.harvest
    if harvest.failure:
        decision = _failed(row, harvest, rules)
    elif harvest.unchanged:
        decision = PageDecision("same", {})
    elif page_answer.page is not None:
        decision = _read(row, page_answer, page_answer.page, rules)
    else:
        decision = _moved(row, page_answer)
    changes = {**decision.changes, "status": harvest.status, "failure": harvest.failure}
    if decision.outcome in READ or decision.outcome == "new":
        changes |= {"fetched": page_answer.at, "fetched_in": page_answer.visit}
    if row.state == "live" and decision.outcome in READ:
        changes["checks"] = row.checks + 1
    if not harvest.failure:  # else the next answer, "not modified", would hide that nothing was read
        changes["etag"] = harvest.etag or row.etag
        changes["last_modified"] = harvest.last_modified or row.last_modified
    return replace(decision, changes=changes)


def described(title: str, page: CrawledPage, links: Sequence[int], *, keep_copies: bool) -> dict[str, Any]:
    """Return the columns that describe a live page: everything read from it except its text."""
    is_kept = keep_copies and bool(page.body)
    offer = page.offer or Offer()
    return {
        "state": "live",
        "leads_to": "",
        "title": page.title or title,
        "size": page.size,
        "raw": uuid.UUID(page.digest),
        "links": list(links),
        "body_id": uuid.UUID(page.digest) if is_kept else None,
        "headers": [list(header) for header in page.headers] if is_kept else [],
        "picture_id": digest_of_bytes(page.picture) if page.picture else None,
        "look": page.look,
        "price": offer.price,
        "currency": offer.currency,
        "availability": offer.availability,
    }


def _failed(row: PageRow, harvest: Harvest, rules: PageRules) -> PageDecision:
    """Decide on a failure: a page that is gone is a change, after others its copy stays as it was."""
    is_gone = harvest.status in {404, 410}
    # A server that is down for a day has not lost its pages.
    if row.state == "live" and not is_gone:
        return PageDecision("failed", {})
    outcome: Outcome = "gone" if is_gone else "failed"
    changes: dict[str, Any] = {"state": outcome}
    if row.fetched is None:
        changes["selectors"] = rules.selectors  # it is waited for, read in this way
    words = Reason("The server answers {0}.", harvest.status)
    return PageDecision(outcome, changes, NotedChange("gone", words=words) if row.state == "live" else None)


def _moved(row: PageRow, page_answer: PageAnswer) -> PageDecision:
    """Follow a redirect to another page of the site, unless too many in a row have led here."""
    page = page_answer.harvest.brought(CrawledPage)
    target = page.links[0] if page is not None and page.links else ""
    note = NotedChange("moved", words=Reason("It leads to {0}.", target)) if row.state == "live" else None
    # Two pages that redirect to each other would be planned in turn without end.
    follows = target if page_answer.hops < MAX_REDIRECTS else ""
    return PageDecision("moved", {"state": "moved", "leads_to": target}, note, follows=follows)


def _read(row: PageRow, page_answer: PageAnswer, page: CrawledPage, rules: PageRules) -> PageDecision:
    """Replace the copy by the page that was read, unless small changes are to add up until they count."""
    # Copies of an older version are split into lines as today, or every page would have changed after an
    # upgrade.
    old, new = normalized(unpacked(bytes(row.lines))), unpacked(page.lines)
    old_keys = set(row.links)
    new_links = [url for url, key in page_answer.links.items() if key not in old_keys]
    # Other selectors read other lines: the first look with new ones is no edit of the page.
    has_same_rules = row.selectors == rules.selectors
    changes = described(row.title, page, list(page_answer.links.values()), keep_copies=rules.keep_copies)
    outcome: Outcome = "minor"
    note, is_replaced = None, True
    if row.state != "live":
        outcome = "new"
        # A page that a person has just put into a list is no news, unless it was waited for.
        is_awaited = has_same_rules and row.state in {"gone", "failed"}
        if row.fetched or is_awaited or not rules.is_list:
            before = rules.lines.counting(old) if row.fetched else ()
            gain = difference(before, rules.lines.counting(new))
            note = NotedChange("back" if row.fetched else "new", gain, changes["title"], keeps_former=True)
    elif has_same_rules:
        note, is_replaced = _compared(row, page, old, new, rules)
        if note and note.kind == "edited":
            outcome = "changed"
            changes |= {"changes": row.changes + 1, "changed": page_answer.at}
    if is_replaced:
        content = digest("\n".join(rules.lines.counting(new)))
        changes |= {"lines": page.lines, "selectors": rules.selectors, "content": content}
    else:
        # The price and the look stay with the copy, so that small steps add up from there.
        changes |= {"price": row.price, "look": row.look}
    return PageDecision(outcome, changes, note, new_links)


def _compared(
    row: PageRow, page: CrawledPage, old: list[str], new: list[str], rules: PageRules
) -> tuple[NotedChange | None, bool]:
    """Return how a page differs from its copy, and whether the copy is replaced."""
    gain, counts = compared(old, new, rules.lines)
    visual = _visual(bytes(row.look), page.look, rules.visual_ignored)
    # visual_percent 0 means that looks do not count.
    looks_different = visual is not None and visual.percent >= rules.visual_percent > 0
    prices = Prices(row.price, (page.offer or Offer()).price)
    counting = rules.lines.counting
    if (counts and rules.conditions.met(gain, counting(old), counting(new), prices)) or looks_different:
        gain = gain if counts else NO_DIFFERENCE
        percent = f"{visual.percent:.1f}" if visual else ""
        words = Reason("It looks different: {0} %.", percent) if visual and not gain.hunks else ""
        return NotedChange("edited", gain, words, visual, keeps_former=True), True
    # Otherwise the small changes that are to add up would be lost with each visit.
    is_replaced = not (rules.conditions.accumulates if counts else rules.lines.least)
    if counts:
        return NotedChange("unmet", gain) if is_replaced else None, is_replaced
    return NotedChange("template", gain) if gain.hunks else None, is_replaced


def _visual(old: bytes, new: bytes, ignored: Sequence[str]) -> VisualDifference | None:
    """Return how two looks differ. Returns None if one of them is missing or damaged."""
    if not old or not new:
        return None
    # A region or a look of another version; a comparison less is better than a visit that cannot end.
    try:
        return visual_difference(old, new, [region(text) for text in ignored])
    except ValueError:
        return None
