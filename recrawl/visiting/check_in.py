"""Check-in of watched pages and sources, inside the caller's transaction."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import F

from crawler.database.bulk import update_rows
from crawler.engine.wake import wake_recrawl
from crawler.frontier.budgets import MAX_REDIRECTS
from crawler.frontier.check_in import is_retryable, retry_at
from crawler.messages import Harvest
from crawler.reading.documents import CrawledPage, ListedPages
from crawler.reading.lines import normalized, unpacked
from crawler.text.keys import digest
from crawler.text.reasons import Reason
from recrawl.comparing.conditions import Prices
from recrawl.comparing.differences import Difference, compared, difference
from recrawl.comparing.visual import VisualDifference, visual_difference
from recrawl.models import Announcement, Change, Check, Source, Version, Visit, Wanted, WatchedPage, key_of
from recrawl.visiting.discovery import describe, find_pages, inside, name_feeds, name_sitemaps

Outcome = Check.Outcome
MAX_ATTEMPTS, MAX_BROWSER_ATTEMPTS = 4, 2
COUNTED = {Outcome.SAME, Outcome.MINOR, Outcome.CHANGED, Outcome.GONE, Outcome.MOVED, Outcome.FAILED}
"""Outcomes of fetches of known pages, which are charged to the budget."""
_SUMMARY = 300


def check_in_watched(harvests: Iterable[Harvest], leases: Sequence[uuid.UUID]) -> None:
    """Store the harvests of rows still under one of the leases. A second check-in has no effect."""
    by_row = {harvest.id: harvest for harvest in harvests}
    if not by_row:
        return
    rows = Wanted.objects.under(leases).select_for_update(of=("self",)).filter(id__in=by_row)
    rows = rows.select_related("visit__site", "page", "source").defer("visit__site__memory")
    visits: dict[int, list[tuple[Wanted, Harvest]]] = defaultdict(list)
    for row in rows.order_by("id"):
        visits[row.visit_id].append((row, by_row[row.pk]))
    for pairs in visits.values():
        visit = pairs[0][0].visit
        _VisitCheckIn(visit).settle(pairs)
        if not visit.wanted.exists():
            wake_recrawl()


@dataclass(frozen=True, slots=True)
class _Former:
    """The copy of a page before a fetch: its lines, price and look, and the version that it becomes."""

    lines: list[str]
    price: float | None
    look: bytes
    version: Version | None


class _VisitCheckIn:
    """The check-in of the harvests of one visit, one after another."""

    def __init__(self, visit: Visit) -> None:
        self.visit, self.site = visit, visit.site
        self.rules, self.conditions = visit.site.rules(), visit.site.conditions()
        self.counts: Counter[str] = Counter()
        self.new_pages: dict[str, str] = {}
        self.rediscovered_pages: dict[str, str] = {}
        self.hops: dict[str, int] = {}

    def settle(self, pairs: Sequence[tuple[Wanted, Harvest]]) -> None:
        """Settle all harvests, then update the visit's counts, then plan fetches of discovered pages."""
        for row, harvest in pairs:
            self.counts.update(
                requests=1,
                bytes=harvest.bytes,
                conditional=harvest.conditional,
                not_modified=harvest.status == 304,
            )
            row.attempts += 1
            if self._again(row, harvest):
                continue
            if row.source is not None:
                self._source(row.source, harvest)
            elif row.page is not None:
                self._page(row, row.page, harvest)
            row.delete()
        Visit.objects.filter(pk=self.visit.pk).update(
            **{name: F(name) + int(count) for name, count in self.counts.items()}
        )
        find_pages(self.site, self.visit, self.new_pages)
        find_pages(self.site, self.visit, self.rediscovered_pages, lost=True, hops=self.hops)

    def _again(self, row: Wanted, harvest: Harvest) -> bool:
        """Schedule a retry if it may succeed. A page that seems to be gone is fetched twice. Returns whether
        it was scheduled.
        """
        max_attempts = MAX_BROWSER_ATTEMPTS if self.site.browser else MAX_ATTEMPTS
        if not harvest.failure or row.attempts >= max_attempts:
            return False
        unsure = harvest.status == 404 and row.attempts == 1 and row.page is not None
        if not unsure and not is_retryable(harvest):
            return False
        row.not_before, row.lease, row.losses = retry_at(harvest, row.attempts), None, 0
        row.save(update_fields=["attempts", "not_before", "lease", "losses"])
        return True

    def _page(self, row: Wanted, page: WatchedPage, harvest: Harvest) -> None:
        at = datetime.fromtimestamp(harvest.at, UTC)
        check = Check(
            visit=self.visit,
            page=page,
            at=at,
            reason=row.reason,
            age=self.visit.number - page.fetched_in if page.fetched else 0,
            days=(at - page.fetched).total_seconds() / 86_400 if page.fetched else 0,
            status=harvest.status,
            failure=harvest.failure,
            conditional=harvest.conditional,
            requests=row.attempts,
            bytes=harvest.bytes,
        )
        was_live = page.state == WatchedPage.State.LIVE
        crawled = harvest.brought(CrawledPage)
        if harvest.failure:
            outcome = self._failed(page, harvest, at)
        elif harvest.unchanged:
            outcome = Outcome.SAME
        elif harvest.status in {200, 226} and crawled is not None:
            outcome = self._read(page, crawled, at)
        else:
            outcome = self._moved(row, page, crawled or CrawledPage(), at)
        if outcome in {Outcome.SAME, Outcome.MINOR, Outcome.CHANGED, Outcome.NEW}:
            page.fetched, page.fetched_in = at, self.visit.number
        if was_live and outcome in {Outcome.SAME, Outcome.MINOR, Outcome.CHANGED}:
            page.checks += 1
        page.status, page.failure = harvest.status, harvest.failure
        if not harvest.failure:  # else the next answer, "not modified", would hide that nothing was read
            page.etag = harvest.etag or page.etag
            page.last_modified = harvest.last_modified or page.last_modified
        page.save()
        check.outcome, check.raw = outcome, page.raw
        check.save()
        self._count(outcome, was_live)

    def _count(self, outcome: Outcome, was_live: bool) -> None:
        self.counts["fetched"] += was_live and outcome in COUNTED
        self.counts["changed"] += outcome is Outcome.CHANGED
        self.counts["found"] += outcome is Outcome.NEW
        self.counts["vanished"] += was_live and outcome in {Outcome.GONE, Outcome.MOVED}
        self.counts["failed"] += outcome is Outcome.FAILED

    def _failed(self, page: WatchedPage, harvest: Harvest, at: datetime) -> Outcome:
        """Record a failed fetch. A page that is gone is a change; otherwise its copy stays as it was."""
        is_gone = harvest.status in {404, 410}
        if page.state == WatchedPage.State.LIVE:
            if not is_gone:
                return Outcome.FAILED
            self._note(
                page, Change.Kind.GONE, at, Difference(), Reason("The server answers {0}.", harvest.status)
            )
        if page.fetched is None:
            page.selectors = self.site.selectors_digest  # it is waited for, read in this way
        page.state = WatchedPage.State.GONE if is_gone else WatchedPage.State.FAILED
        return Outcome.GONE if is_gone else Outcome.FAILED

    def _moved(self, row: Wanted, page: WatchedPage, crawled: CrawledPage, at: datetime) -> Outcome:
        """Follow a redirect to another page of the site, unless too many in a row have led here."""
        target = crawled.links[0] if crawled.links else ""
        if page.state == WatchedPage.State.LIVE:
            self._note(page, Change.Kind.MOVED, at, Difference(), Reason("It leads to {0}.", target))
        page.state, page.leads_to = WatchedPage.State.MOVED, target
        if row.hops < MAX_REDIRECTS:
            self.rediscovered_pages[target] = Reason("{0} leads here", page.path[:150])
            self.hops[target] = row.hops + 1
        return Outcome.MOVED

    def _read(self, page: WatchedPage, crawled: CrawledPage, at: datetime) -> Outcome:
        """Store a body that differs from the stored one, and record what changed."""
        new, links = unpacked(crawled.lines), set(page.links)
        state, had = page.state, page.fetched is not None
        same_rules = page.selectors == self.site.selectors_digest
        old = _Former(
            normalized(unpacked(bytes(page.lines))), page.price, bytes(page.look), version_of(page, at)
        )
        describe(page, crawled, self.site)
        self._note_offer(page, at)
        targets = self.rediscovered_pages if state == WatchedPage.State.LIVE else self.new_pages
        for url in crawled.links:
            if inside(self.site, url) and key_of(url) not in links:
                targets[url] = Reason("new on {0}", page.path[:150])
        if page.url == self.site.url:
            name_feeds(self.site, crawled.feeds)
        outcome, keep = Outcome.MINOR, True
        if state != WatchedPage.State.LIVE:
            kind = Change.Kind.BACK if had else Change.Kind.NEW
            gain = difference(self.rules.counting(old.lines) if had else (), self.rules.counting(new))
            # A page that a person has just put into a list is no news, unless it was waited for.
            is_awaited = same_rules and state in {WatchedPage.State.GONE, WatchedPage.State.FAILED}
            if had or is_awaited or not self.site.is_list:
                self._note(page, kind, at, gain, page.title, before=old.version)
            outcome = Outcome.NEW
        elif same_rules:
            outcome, keep = self._compare(page, old, new, at)
        if keep:
            page.lines, page.selectors = crawled.lines, self.site.selectors_digest
            page.content = digest("\n".join(self.rules.counting(new)))
        return outcome

    def _compare(self, page: WatchedPage, old: _Former, new: list[str], at: datetime) -> tuple[Outcome, bool]:
        """Record how a page differs from its copy. Returns the outcome, and whether the copy is replaced.

        A copy is kept where small changes add up until they count.
        """
        gain, counts = compared(old.lines, new, self.rules)
        seen = self._visual(old.look, bytes(page.look))
        looks_different = seen is not None and seen.percent >= self.site.visual_percent > 0
        is_met = counts and self._as_asked(gain, old.lines, new, Prices(old.price, page.price))
        if is_met or looks_different:
            gain = gain if counts else Difference()
            words = (
                Reason("It looks different: {0} %.", f"{seen.percent:.1f}") if seen and not gain.hunks else ""
            )
            self._note(page, Change.Kind.EDITED, at, gain, words, before=old.version, seen=seen)
            page.changes, page.changed = page.changes + 1, at
            return Outcome.CHANGED, True
        keep = not (self.conditions.accumulates if counts else self.rules.least)
        if counts and keep:
            self._note(page, Change.Kind.UNMET, at, gain)
        elif gain.hunks and not counts:
            self._note(page, Change.Kind.TEMPLATE, at, gain)
        if not keep:
            page.price, page.look = old.price, old.look
        return Outcome.MINOR, keep

    def _visual(self, old: bytes, new: bytes) -> VisualDifference | None:
        """Return how two looks differ. Returns None if one of them is missing or damaged."""
        if not old or not new:
            return None
        try:
            return visual_difference(old, new, self.site.ignored_regions)
        except ValueError:
            return None

    def _as_asked(self, gain: Difference, old: list[str], new: list[str], prices: Prices) -> bool:
        return self.conditions.met(gain, self.rules.counting(old), self.rules.counting(new), prices)

    def _note_offer(self, page: WatchedPage, at: datetime) -> None:
        """Store the price and the stock that a page states, if they differ from the last ones stored."""
        if page.pk is None or not (page.price is not None or page.availability):
            return
        stated = (page.price, page.currency, page.availability)
        last = page.offers.order_by("-id").values_list("price", "currency", "availability").first()
        if last != stated:
            page.offers.create(
                at=at, price=page.price, currency=page.currency, availability=page.availability
            )

    def _note(
        self,
        page: WatchedPage,
        kind: Change.Kind,
        at: datetime,
        gain: Difference,
        words: str = "",
        *,
        before: Version | None = None,
        seen: VisualDifference | None = None,
    ) -> None:
        if before is not None:
            before.save()
        summary = words or " … ".join(gain.lines_added or gain.lines_removed)
        Change.objects.create(
            site=self.site,
            page=page,
            visit=self.visit,
            at=at,
            kind=kind,
            title=page.title,
            summary=summary[:_SUMMARY],
            added=gain.added,
            removed=gain.removed,
            difference=gain.packed() if gain.hunks else b"",
            raw=page.raw,
            before=before,
            visual=seen.percent if seen else None,
            areas=[list(box) for box in seen.boxes] if seen else [],
        )

    def _source(self, source: Source, harvest: Harvest) -> None:
        source.failure = harvest.failure
        if harvest.failure:
            source.usable = harvest.status not in {404, 410}
            source.save(update_fields=["failure", "usable"])
            return
        first = source.read is None
        source.read = datetime.fromtimestamp(harvest.at, UTC)
        source.read_as = source.told
        source.etag, source.last_modified = harvest.etag, harvest.last_modified
        source.body_hash = harvest.body_hash or source.body_hash
        source.save()
        if harvest.unchanged:
            return
        listed = harvest.brought(ListedPages) or ListedPages()
        if listed.index:
            for page in listed.pages:
                name_sitemaps(self.site, [page.url], page.stamp)
            return
        stamps = {key_of(page.url): page.stamp for page in listed.pages}
        newly_named = note_stamps(source, stamps, self.visit, first=first)
        for page in listed.pages:
            targets = self.rediscovered_pages if key_of(page.url) in newly_named else self.new_pages
            targets.setdefault(page.url, Reason("named by {0}", source.url[:150]))


def version_of(page: WatchedPage, until: datetime) -> Version | None:
    """Return the unsaved version that a page's copy becomes when another replaces it. Returns None without
    a copy.
    """
    if page.fetched is None or page.raw is None:
        return None
    return Version(
        page=page,
        since=page.fetched,
        until=until,
        title=page.title,
        status=page.status,
        lines=page.lines,
        raw=page.raw,
        body_id=page.body_id,
        headers=page.headers,
        picture_id=page.picture_id,
    )


def note_stamps(source: Source, stamps: dict[int, str], visit: Visit, *, first: bool) -> set[int]:
    """Store a source's stamps of known pages. Returns the keys of pages it had not named before.

    Stamps of the first reading are not news.
    """
    pages = WatchedPage.objects.filter(site=visit.site_id, key__in=stamps).values_list("id", "key")
    rows = {row.page_id: row for row in source.announcements.all()}
    new, changed = [], []
    newly_named: set[int] = set()
    for page, key in pages:
        row = rows.get(page)
        if row is None:
            since = 0 if first else visit.number
            if not first:
                newly_named.add(key)
            new.append(Announcement(source=source, page_id=page, stamp=stamps[key], since=since))
        elif row.stamp != stamps[key]:
            row.stamp, row.since = stamps[key], visit.number
            changed.append(row)
    Announcement.objects.bulk_create(new, ignore_conflicts=True, batch_size=1000)
    update_rows(Announcement, changed, ["stamp", "since"])
    return newly_named
