"""Check-in of watched pages and sources, inside the caller's transaction."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from django.db.models import F

from crawler.database.bulk import update_rows
from crawler.engine.wake import wake_recrawl
from crawler.frontier.decision import is_retryable, retry_at
from crawler.messages import Harvest
from crawler.reading.documents import CrawledPage, ListedPages, Offer
from crawler.text.reasons import Reason
from recrawl.models import Announcement, Change, Check, Source, Version, Visit, Wanted, WatchedPage, key_of
from recrawl.visiting.decision import COLUMNS, NotedChange, PageAnswer, PageRow, decide
from recrawl.visiting.discovery import find_pages, inside, keep_copies, name_feeds, name_sitemaps

Outcome = Check.Outcome
# A browser takes up to 45 s and the memory of the machine, so that it is tried less often.
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
    # By id, as everywhere, so that two check-ins lock rows in one order.
    for row in rows.order_by("id"):
        visits[row.visit_id].append((row, by_row[row.pk]))
    for pairs in visits.values():
        visit = pairs[0][0].visit
        _VisitCheckIn(visit).settle(pairs)
        if not visit.wanted.exists():
            wake_recrawl()


class _VisitCheckIn:
    """The check-in of the harvests of one visit, one after another."""

    def __init__(self, visit: Visit) -> None:
        self.visit, self.site = visit, visit.site
        self.rules = visit.site.page_rules()
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
        # At the end: a page that two harvests link to is then planned once.
        find_pages(self.site, self.visit, self.new_pages)
        find_pages(self.site, self.visit, self.rediscovered_pages, lost=True, hops=self.hops)

    def _again(self, row: Wanted, harvest: Harvest) -> bool:
        """Schedule a retry if it may succeed. A page that seems to be gone is fetched twice. Returns whether
        it was scheduled.
        """
        max_attempts = MAX_BROWSER_ATTEMPTS if self.site.browser else MAX_ATTEMPTS
        if not harvest.failure or row.attempts >= max_attempts:
            return False
        # Pages are missing for minutes while a site is deployed; "gone" would be told as a change.
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
        crawled = harvest.brought(CrawledPage) or CrawledPage()
        links = {url: key_of(url) for url in crawled.links if inside(self.site, url)}
        page_answer = PageAnswer(harvest, self.visit.number, links, row.hops)
        # Taken before the answer changes the row.
        was_live, before = page.state == WatchedPage.State.LIVE, version_of(page, at)
        decision = decide(_row(page), page_answer, self.rules)
        for name, value in decision.changes.items():
            setattr(page, name, value)
        if page_answer.page is not None:
            keep_copies(page_answer.page, self.site)
            self._note_offer(page, page_answer.page.offer, at)
            # Only the top page: feeds of single articles are those of their comments.
            if page.url == self.site.url:
                name_feeds(self.site, page_answer.page.feeds)
        # What a known page links to anew may be a page that had been lost; a new page links to everything.
        targets = self.rediscovered_pages if was_live else self.new_pages
        for url in decision.new_links:
            targets[url] = Reason("new on {0}", page.path[:150])
        if decision.follows:
            self.rediscovered_pages[decision.follows] = Reason("{0} leads here", page.path[:150])
            self.hops[decision.follows] = row.hops + 1
        if decision.note is not None:
            self._note(page, decision.note, at, before)
        page.save(update_fields=decision.changes)
        check.outcome, check.raw = Outcome(decision.outcome), page.raw
        check.save()
        self._count(Outcome(decision.outcome), was_live)

    def _count(self, outcome: Outcome, was_live: bool) -> None:
        # New pages are not charged: the budget is for looking again.
        self.counts["fetched"] += was_live and outcome in COUNTED
        self.counts["changed"] += outcome is Outcome.CHANGED
        self.counts["found"] += outcome is Outcome.NEW
        self.counts["vanished"] += was_live and outcome in {Outcome.GONE, Outcome.MOVED}
        self.counts["failed"] += outcome is Outcome.FAILED

    def _note_offer(self, page: WatchedPage, offer: Offer | None, at: datetime) -> None:
        """Store the price and the stock that a page states, if they differ from the last ones stored."""
        if offer is None or (offer.price is None and not offer.availability):
            return
        stated = (offer.price, offer.currency, offer.availability)
        last = page.offers.order_by("-id").values_list("price", "currency", "availability").first()
        # Stored when it differs, so that a price that stands for a year is one row.
        if last != stated:
            page.offers.create(
                at=at, price=offer.price, currency=offer.currency, availability=offer.availability
            )

    def _note(self, page: WatchedPage, note: NotedChange, at: datetime, former: Version | None) -> None:
        before = former if note.keeps_former else None
        if before is not None:
            before.save()
        gain, visual = note.gain, note.visual
        summary = note.words or " … ".join(gain.lines_added or gain.lines_removed)
        Change.objects.create(
            site=self.site,
            page=page,
            visit=self.visit,
            at=at,
            kind=note.kind,
            title=page.title,
            summary=summary[:_SUMMARY],
            added=gain.added,
            removed=gain.removed,
            difference=gain.packed() if gain.hunks else b"",
            raw=page.raw,
            before=before,
            visual=visual.percent if visual else None,
            areas=[list(box) for box in visual.boxes] if visual else [],
        )

    def _source(self, source: Source, harvest: Harvest) -> None:
        source.failure = harvest.failure
        if harvest.failure:
            # Only what the server says is not there; a failure of one day must not end a sitemap.
            source.usable = harvest.status not in {404, 410}
            source.save(update_fields=["failure", "usable"])
            return
        first = source.read is None
        source.read = datetime.fromtimestamp(harvest.at, UTC)
        # The index's stamp at this reading, by which an unchanged sitemap is not read again.
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


def _row(page: WatchedPage) -> PageRow:
    return PageRow(**{name: getattr(page, name) for name in COLUMNS})


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
            # 0: at the first reading everything is named, which says nothing of news.
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
