"""A crawl's life: begun, tended, paused, resumed, ended by its limits, cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.db import connection, transaction
from django.db.models import Count, Exists, F, FloatField, OuterRef, Q, QuerySet
from django.db.models.functions import Cast, Extract, Now

from crawler.frontier.admission import Found, admit
from crawler.frontier.figures import note
from crawler.frontier.models import Crawl, CrawlUrl, Leased, Waiting
from crawler.frontier.queue import (
    drop_expired,
    enqueue,
    keep_statistics,
    left_of,
    release_lost,
    renew_hosts,
    repair,
)
from crawler.frontier.scope import Scope
from crawler.http.urls import BadUrl, canonical_url

State = Crawl.State
MOST_SEEDS = 10_000
NOTHING_LEFT = "nothing is left to crawl"
REOPENED_FOR = timedelta(hours=1)


class CrawlError(ValueError):
    """A crawl that cannot be begun or changed so, with the reason."""


def begin(crawl: Crawl) -> Crawl:
    """Store the crawl and queue its seeds. Raises CrawlError for seeds that are no addresses; ScopeError."""
    Scope(crawl.scope)
    if not 0 < len(crawl.seeds) <= MOST_SEEDS:
        raise CrawlError(f"a crawl takes from 1 to {MOST_SEEDS} seeds")
    if crawl.into_graph and not crawl.keep_bodies:
        raise CrawlError("the graph is made of the bodies: keep them")
    try:
        seeds = list(dict.fromkeys(canonical_url(seed) for seed in crawl.seeds))
    except BadUrl as error:
        raise CrawlError(str(error)) from error
    crawl.seeds = seeds
    score = crawl.rules().seed(len(seeds))
    with transaction.atomic():
        crawl.save()
        now = datetime.now(UTC)
        found = admit(crawl, [Found(url, CrawlUrl.Link.SEED, score, 0) for url in seeds], now)
        if not found.new:
            raise CrawlError("no seed lies in the scope")
        if found.refused:
            Crawl.objects.filter(pk=crawl.pk).update(refused=dict(found.refused))
    crawl.refresh_from_db()
    return crawl


def tend(now: datetime) -> list[int]:
    """Drop what waited too long, look at the limits, note the queue; what still runs. May run twice.

    What is under a lease that no host has any more waits again first.
    """
    going = []
    release_lost()
    _reopen(now)
    running = list(Crawl.objects.running())
    if running:
        keep_statistics()
    for crawl in running:
        with transaction.atomic():
            locked = Crawl.objects.select_for_update(skip_locked=True).running().filter(pk=crawl.pk).first()
            if locked is None:
                going.append(crawl.pk)
                continue
            _tend(locked, now)
        if Crawl.objects.running().filter(pk=crawl.pk).exists():
            going.append(crawl.pk)
    return going


def pause(crawls: QuerySet[Crawl]) -> int:
    """Hand out no more; what is out comes back. How many were running."""
    return crawls.filter(state=State.RUNNING).update(
        state=State.PAUSED,
        reason="stopped",
        paused=datetime.now(UTC),
        running_for=F("running_for") + Cast(Extract(Now() - F("resumed"), "epoch"), FloatField()),
    )


def resume(crawl: Crawl) -> bool:
    """Go on; the time between does not count as waiting. False unless it was paused, or is done too early."""
    now = datetime.now(UTC)
    with transaction.atomic():
        mine = Crawl.objects.select_for_update().filter(pk=crawl.pk).first()
        if mine is None or not (mine.state == State.PAUSED or may_go_on(mine, now)):
            return False
        away = now - (mine.paused or mine.finished or now)
        mine.waiting.update(queued=F("queued") + away)
        _run_on(Crawl.objects.filter(pk=crawl.pk), now)
    return True


def may_go_on(crawl: Crawl, now: datetime) -> bool:
    """Whether a done crawl has URLs left, and room for them."""
    return crawl.state == State.DONE and not _limit_reached(crawl, now) and left_of(crawl).any


def cancel(crawls: QuerySet[Crawl]) -> int:
    """End for good; what was crawled stays. How many had not ended."""
    open_ones = crawls.filter(state__in=[State.RUNNING, State.PAUSED])
    return open_ones.update(state=State.CANCELLED, reason="cancelled", finished=datetime.now(UTC))


def rescope(crawl: Crawl, scope: Sequence[str]) -> int:
    """Give a crawl another scope; waiting URLs outside it leave the queue. How many. Raises ScopeError."""
    rules = Scope(scope)
    with transaction.atomic():
        Crawl.objects.select_for_update().only("id").get(pk=crawl.pk)
        Crawl.objects.filter(pk=crawl.pk).update(scope=list(scope))
        waiting = crawl.waiting.select_for_update().values_list("page_id", "host_id", "url")
        outside = [
            (key, host) for key, host, url in waiting.iterator(chunk_size=5000) if not rules.allows(url)
        ]
        Waiting.objects.filter(page__in=[key for key, _ in outside]).delete()
        CrawlUrl.objects.filter(id__in=[key for key, _ in outside]).delete()
        renew_hosts(crawl.pk, {host for _, host in outside})
    return len(outside)


def requeue(crawl: Crawl, failures: Sequence[str] = (), host: int | None = None) -> int:
    """Queue failed URLs again, of these causes or this host where given; how many. A done crawl goes on."""
    now = datetime.now(UTC)
    with transaction.atomic():
        Crawl.objects.select_for_update().only("id").get(pk=crawl.pk)  # else it may end unseen meanwhile
        failed = crawl.urls.filter(state=CrawlUrl.State.FAILED)
        failed = failed.filter(failure__in=failures) if failures else failed
        failed = failed.filter(host=host) if host is not None else failed
        pages = list(failed.select_for_update().values_list("id", flat=True))
        CrawlUrl.objects.filter(id__in=pages).update(state=CrawlUrl.State.QUEUED, attempts=0, queued=now)
        renew_hosts(crawl.pk, enqueue(pages))
        if pages:
            _run_on(Crawl.objects.filter(pk=crawl.pk, state=State.DONE), now)
    return len(pages)


def forget_bodies() -> int:
    """Delete contents that no URL has any more, after their crawls were deleted; how many."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            DELETE FROM frontier_body
            WHERE NOT EXISTS (SELECT FROM frontier_crawlurl WHERE body_id = digest)
                AND NOT EXISTS (SELECT FROM pipeline_document WHERE body_id = digest)
            """
        )
        return int(cursor.rowcount)


def _tend(crawl: Crawl, now: datetime) -> None:
    dropped = drop_expired(crawl, now)
    by_link = dict(crawl.waiting.values_list("link").annotate(count=Count("page")))
    total = sum(by_link.values())
    note(
        crawl.pk,
        now,
        dropped=dropped,
        queue=[float(total)],
        inter=[float(by_link.get("inter", 0))],
        intra=[float(by_link.get("intra", 0))],
    )
    if dropped:
        Crawl.objects.filter(pk=crawl.pk).update(dropped=F("dropped") + dropped)
    left = left_of(crawl)
    if left.lost:
        repair(crawl)
    reason = _limit_reached(crawl, now) or ("" if left.any else NOTHING_LEFT)
    if reason and not left.out:
        Crawl.objects.filter(pk=crawl.pk).update(
            state=State.DONE,
            reason=reason,
            finished=now,
            running_for=crawl.seconds(now),
        )


def _run_on(crawls: QuerySet[Crawl], now: datetime) -> int:
    return crawls.update(state=State.RUNNING, reason="", paused=None, finished=None, resumed=now)


def _reopen(now: datetime) -> int:
    """Let crawls go on that got URLs in the moment in which they ended: robots.txt named sitemaps, say."""
    left = Exists(Waiting.objects.filter(crawl=OuterRef("pk"))) | Exists(
        Leased.objects.filter(crawl=OuterRef("pk"))
    )
    ended = Q(state=State.DONE, reason=NOTHING_LEFT, finished__gt=now - REOPENED_FOR)
    return _run_on(Crawl.objects.filter(ended, left), now)


def _limit_reached(crawl: Crawl, now: datetime) -> str:
    """The limit that lets nothing more go out, in words; empty when there is room."""
    if crawl.max_pages is not None and crawl.crawled >= crawl.max_pages:
        return f"the limit of {crawl.max_pages} pages is reached"
    if crawl.max_bytes is not None and crawl.bytes >= crawl.max_bytes:
        return f"the limit of {crawl.max_bytes} bytes is reached"
    if crawl.max_minutes is not None and crawl.seconds(now) >= crawl.max_minutes * 60:
        return f"the limit of {crawl.max_minutes:g} minutes is reached"
    return ""


def room(crawl: Crawl, now: datetime) -> int | None:
    """How many more URLs may go out now; None: as many as wait."""
    if _limit_reached(crawl, now):
        return 0
    if crawl.max_pages is None:
        return None
    return max(crawl.max_pages - crawl.crawled - crawl.leased.count(), 0)
