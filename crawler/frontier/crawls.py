"""Lifecycle of crawls: begin, tend, pause, resume, end at limits, cancel."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Count, Exists, F, FloatField, OuterRef, QuerySet
from django.db.models.functions import Cast, Extract, Now

from crawler.engine.logins import take_login
from crawler.fetching.http.logins import LoginError
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.frontier.admission import Found, admit
from crawler.frontier.budgets import max_requests, max_seconds
from crawler.frontier.figures import note
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.frontier.queue import (
    drop_expired,
    keep_statistics,
    remaining,
    renew_all_hosts,
    renew_hosts,
)
from crawler.frontier.ranking import rank_known
from crawler.frontier.scope import Scope
from crawler.frontier.signals import more_expected, query_tried
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason

State = Crawl.State
MAX_SEEDS = 10_000
NOTHING_LEFT = gettext_noop("nothing is left to crawl")


class CrawlError(ValueError):
    """An error raised when a crawl cannot be begun or changed, with the reason."""


def begin(crawl: Crawl) -> Crawl:
    """Store the crawl and queue its seeds.

    Raises CrawlError for invalid seeds or options, and ScopeError for an invalid scope.
    """
    Scope(crawl.scope)
    if not 0 < len(crawl.seeds) <= MAX_SEEDS:
        raise CrawlError(f"a crawl takes from 1 to {MAX_SEEDS} seeds")
    if crawl.into_graph and not crawl.keep_bodies:
        raise CrawlError("the graph is made of the bodies: keep them")
    crawl.link_query = crawl.link_query.strip()
    if crawl.link_query and not crawl.into_graph:
        raise CrawlError(gettext_noop("a query asks the graph: let the crawl go into the graph"))
    try:
        seeds = list(dict.fromkeys(canonical_url(take_login(seed)) for seed in crawl.seeds))
    except (BadUrl, LoginError) as error:
        raise CrawlError(str(error)) from error
    crawl.seeds = seeds
    score = crawl.rules().seed(len(seeds))
    with transaction.atomic():
        crawl.save()
        now = datetime.now(UTC)
        admitted = admit(crawl, [Found(url, CrawlUrl.Link.SEED, score, 0) for url in seeds], now)
        if not admitted.new:
            raise CrawlError("no seed lies in the scope")
        if admitted.refused:
            Crawl.objects.filter(pk=crawl.pk).update(refused=dict(admitted.refused))
    crawl.refresh_from_db()
    return crawl


def tend(now: datetime) -> list[int]:
    """Drop expired URLs, apply the limits and record the queue length of every running crawl. May run twice.

    Returns the ids of the crawls that still run.
    """
    going = []
    running = list(Crawl.objects.running())
    if running:
        keep_statistics()
    for crawl in running:
        with transaction.atomic():
            # skip_locked: a check-in holds the row, and the next tending is seconds away.
            locked = Crawl.objects.select_for_update(skip_locked=True).running().filter(pk=crawl.pk).first()
            if locked is None:
                going.append(crawl.pk)
                continue
            _tend(locked, now)
        if Crawl.objects.running().filter(pk=crawl.pk).exists():
            going.append(crawl.pk)
    return going


def pause(crawls: QuerySet[Crawl]) -> int:
    """Pause running crawls: no more URLs are handed out, leased ones come back. Returns their number."""
    return crawls.filter(state=State.RUNNING).update(
        state=State.PAUSED,
        reason="stopped",
        paused=datetime.now(UTC),
        running_for=F("running_for") + Cast(Extract(Now() - F("resumed"), "epoch"), FloatField()),
    )


def resume(crawl: Crawl) -> bool:
    """Resume a paused crawl, or a finished one that may go on. Returns False for any other crawl.

    The time of the pause does not count as waiting time of its URLs.
    """
    now = datetime.now(UTC)
    with transaction.atomic():
        mine = Crawl.objects.select_for_update().filter(pk=crawl.pk).first()
        if mine is None or not (mine.state == State.PAUSED or may_go_on(mine, now)):
            return False
        # The time control would drop the whole queue after a long pause.
        away = now - (mine.paused or mine.finished or now)
        mine.waiting.update(queued=F("queued") + away)
        _run_on(Crawl.objects.filter(pk=crawl.pk), now)
    return True


def may_go_on(crawl: Crawl, now: datetime) -> bool:
    """Return whether a finished crawl has URLs left and has reached no limit."""
    return crawl.state == State.DONE and not _limit_reached(crawl, now) and _may_bring_more(crawl)


def cancel(crawls: QuerySet[Crawl]) -> int:
    """Cancel crawls that have not ended. Their pages are kept. Returns the number of cancelled crawls."""
    open_ones = crawls.filter(state__in=[State.RUNNING, State.PAUSED])
    return open_ones.update(state=State.CANCELLED, reason="cancelled", finished=datetime.now(UTC))


def tried(query: str) -> tuple[dict[str, float], str]:
    """Return the addresses that a query names over what is stored, with weights, and why it names none."""
    for _, reply in query_tried.send(sender=Crawl, query=query):
        if isinstance(reply, dict):
            return reply, ""
        return {}, str(reply)
    return {}, "nothing here asks the graph"


NOTHING_STORED = gettext_noop("there is nothing to ask yet: no document has been read")


def refusal_of(query: str) -> str:
    """Return why a query cannot lead a crawl, "" for one that can, for none, and while nothing is stored."""
    why = tried(query)[1] if query.strip() else ""
    return "" if why == NOTHING_STORED else why


def lead_by(crawl: Crawl, query: str) -> None:
    """Let another query lead a crawl from now on; an empty one leaves it to the pipeline's."""
    Crawl.objects.filter(pk=crawl.pk, into_graph=True).update(link_query=query.strip())


def rescope(crawl: Crawl, scope: Sequence[str]) -> int:
    """Change a crawl's scope. Returns the number of waiting URLs removed because they are outside it.

    Raises ScopeError.
    """
    Scope(scope)
    with transaction.atomic():
        locked = Crawl.objects.select_for_update().get(pk=crawl.pk)
        locked.scope = list(scope)
        locked.save(update_fields=["scope"])
        rules = locked.bounds()
        waiting = crawl.waiting.select_for_update().values_list("id", "host_id", "url")
        outside = [
            (key, host) for key, host, url in waiting.iterator(chunk_size=5000) if not rules.allows(url)
        ]
        CrawlUrl.objects.filter(id__in=[key for key, _ in outside]).delete()
        outside_hosts = {host for _, host in outside}
        renew_hosts(crawl, outside_hosts)
        # A host that was never crawled takes no room of the limit on hosts.
        has_urls = Exists(crawl.urls.filter(host=OuterRef("host")))
        crawl.hosts.filter(~has_urls, host__in=outside_hosts).delete()
    return len(outside)


def requeue(crawl: Crawl, failures: Sequence[str] = (), host: int | None = None) -> int:
    """Queue failed URLs again, only of these causes or this host where given. Returns their number.

    A finished crawl runs again when there are such URLs.
    """
    now = datetime.now(UTC)
    with transaction.atomic():
        Crawl.objects.select_for_update().only("id").get(pk=crawl.pk)  # else it may end unseen meanwhile
        failed = crawl.urls.filter(state=CrawlUrl.State.FAILED)
        failed = failed.filter(failure__in=failures) if failures else failed
        failed = failed.filter(host=host) if host is not None else failed
        hosts = dict(failed.select_for_update().values_list("id", "host_id"))
        CrawlUrl.objects.filter(id__in=hosts).update(
            state=CrawlUrl.State.QUEUED, attempts=0, queued=now, not_before=now
        )
        renew_hosts(crawl, set(hosts.values()))
        if hosts:
            _run_on(Crawl.objects.filter(pk=crawl.pk, state=State.DONE), now)
    return len(hosts)


def _tend(crawl: Crawl, now: datetime) -> None:
    dropped = drop_expired(crawl, now)
    by_link = dict(crawl.waiting.values_list("link").annotate(count=Count("id")))
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
    rank_known(crawl)
    urls = remaining(crawl)
    # URLs that wait while no host leads to them would never be asked for.
    if urls.waiting and not urls.out and not urls.hosts:
        renew_all_hosts(crawl)
    reason = _limit_reached(crawl, now) or ("" if _may_bring_more(crawl) else NOTHING_LEFT)
    # Pages that are out come back first, so that a crawl does not end with results on their way.
    if reason and not urls.out:
        Crawl.objects.filter(pk=crawl.pk).update(
            state=State.DONE,
            reason=reason,
            finished=now,
            running_for=crawl.seconds(now),
        )


def _run_on(crawls: QuerySet[Crawl], now: datetime) -> int:
    return crawls.update(state=State.RUNNING, reason="", paused=None, finished=None, resumed=now)


def _may_bring_more(crawl: Crawl) -> bool:
    """Return whether URLs are in the queue, or work under way may add some."""
    if any(is_expected for _, is_expected in more_expected.send(sender=Crawl, crawl=crawl)):
        return True
    return crawl.queue.exists()


def _limit_reached(crawl: Crawl, now: datetime) -> str:
    """Return a description of the limit that the crawl has reached. Returns "" below all limits."""
    if crawl.max_pages is not None and crawl.crawled >= crawl.max_pages:
        return Reason("the limit of {0} pages is reached", crawl.max_pages)
    if crawl.max_bytes is not None and crawl.bytes >= crawl.max_bytes:
        return Reason("the limit of {0} bytes is reached", crawl.max_bytes)
    requests = max_requests(crawl.max_pages)
    if requests is not None and crawl.requests >= requests:
        return Reason("{0} requests were made for at most {1} pages", requests, crawl.max_pages)
    seconds = max_seconds(crawl.max_pages, crawl.max_minutes)
    if crawl.seconds(now) >= seconds:
        return Reason("the limit of {0} minutes is reached", f"{seconds / 60:g}")
    return ""


def room(crawl: Crawl, now: datetime) -> int | None:
    """Return the number of URLs that may still be handed out now. Returns None when there is no limit."""
    if _limit_reached(crawl, now):
        return 0
    requests = max_requests(crawl.max_pages)
    if crawl.max_pages is None or requests is None:
        return None
    return max(min(crawl.max_pages - crawl.crawled, requests - crawl.requests) - crawl.leased.count(), 0)
