"""Runners of reports about what happens over time: planned visits, crawls and histories of pages."""

from __future__ import annotations

import json
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from django.test import override_settings

from crawler.fetching.http import freshness
from feeds.scheduling.base import FeedStates, select
from feeds.scheduling.budget import TokenBudget
from feeds.scheduling.floors import FloorLimits, VisitOutcome, floor
from feeds.scheduling.rates import PeriodicRates
from feeds.scheduling.redirects import should_move
from feeds.scheduling.registry import make_policy
from feeds.scheduling.training import START_M, START_T, after_retrieval
from recrawl.comparing.differences import difference
from recrawl.own_history import as_lines
from recrawl.replay.history import HistoryError, read_history
from tests.reports.runners import Input, _script, runner, server_of, whole_way, without_host

SITE = "http://seed.example"
OTHER = "OTHER"
"""Stands for another name of the server's own address."""


@runner
def floored(given: Input) -> Any:
    """What became of a visit at `at`, perhaps with `headers` -> in how many minutes the next may be, and why.

    The minutes are None for a feed that is visited no more.
    """
    at = datetime.fromisoformat(given.get("at", "2026-11-20T10:00:00+00:00")).timestamp()
    facts = {name: value for name, value in given.items() if name not in {"at", "headers"}}
    facts = {name: tuple(value) if isinstance(value, list) else value for name, value in facts.items()}
    headers = {name.lower(): value for name, value in given.get("headers", {}).items()}
    asked = {"retry_after": freshness.retry_after(headers, at), "max_age": freshness.max_age(headers, at)}
    found = floor(VisitOutcome(**{"at": at, "jitter": 0.0, **asked, **facts}), FloorLimits())
    minutes = None if found.stop else round((found.not_before - at) / 60, 1)
    return {"minutes": minutes, "rule": found.code, "stops": found.stop}


@runner
def granted(given: Input) -> Any:
    """Seconds at which a controller ticks -> the retrievals that each tick may spend."""
    budget, tick = TokenBudget(0.0), given.get("tick", 600.0)
    spent = []
    for now in given["ticks"]:
        k, budget = budget.grant(now, feeds=given["feeds"], per_hour=given["per_hour"], tick=tick)
        spent.append(k)
    return spent


@runner
def chosen(given: Input) -> Any:
    """Feeds with `hours` since a visit, `daily` articles, `readers` and `window` -> those visited first."""
    feeds, now = given["feeds"], 1_800_000_000.0
    states = FeedStates(
        id=np.arange(len(feeds)),
        last=np.array([now - one["hours"] * 3600 for one in feeds]),
        hourly=PeriodicRates.of([[one.get("daily", 1.0) / 24] * 24 for one in feeds]),
        weekly=PeriodicRates.of([[one.get("daily", 1.0) / 24] * 168 for one in feeds]),
        subscribers=np.array([float(one.get("readers", 1)) for one in feeds]),
        window=np.array([float(one.get("window", 0)) for one in feeds]),
    )
    keys = make_policy(given.get("policy", "freshness")).keys(states, now)
    allowed = np.array([not one.get("waits", False) for one in feeds])
    return [feeds[row]["name"] for row in select(states, keys, allowed, given["room"])]


@runner
def trained(given: Input) -> Any:
    """Whether each visit of a new feed brought `news` -> how many ticks it waits after each."""
    m, t = np.array(START_M), np.array(START_T)
    waits = []
    for new in given["news"]:
        m, t, toe = after_retrieval(m, t, new)
        waits.append(int(toe))
    return waits


@runner
def believed(given: Input) -> bool:
    """A permanent redirect seen `repeats` times over `days` -> whether the feed's address is rewritten."""
    return should_move(given["repeats"], 0.0, given["days"] * 86400.0)


def _moments(fields: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return the fields of a feed, with minutes from now in place of its times."""
    times = {"last_attempt", "last_success", "not_before", "training_due", "training_since", "selected_at"}
    return {
        name: now + timedelta(minutes=value) if name in times and value is not None else value
        for name, value in fields.items()
    }


@whole_way
def ticked(given: Input) -> Any:
    """`feeds` by name and `steps` -> the feeds that each step selects.

    Times of feeds are in minutes from now. Steps: ["tick", minutes], ["everything"], ["now", name].
    """
    from feeds.models import Feed  # noqa: PLC0415
    from feeds.visiting.selection import retrieve_now  # noqa: PLC0415
    from feeds.visiting.ticks import tick  # noqa: PLC0415
    from tests.factories import make_feed  # noqa: PLC0415

    now = datetime.fromisoformat(given["at"]) if "at" in given else datetime.now(UTC)
    usual = {"phase": "normal", "added": -3000, "last_success": -3000, "not_before": -1}
    for name, fields in given["feeds"].items():
        row = _moments({**usual, **fields}, now)
        added = now + timedelta(minutes=row.pop("added"))
        one = make_feed(f"https://{name}.example/feed", title=name, **row)
        Feed.objects.filter(pk=one.pk).update(added=added)
    taken = []
    limits = {"FEED_BUDGET": given.get("budget", 100.0), "FEED_MIN_GAP_SECONDS": 600}
    with override_settings(**limits):
        for name, *rest in given["steps"]:
            before = set(Feed.objects.filter(selected_at__isnull=False).values_list("title", flat=True))
            if name == "now":
                retrieve_now(Feed.objects.filter(title__in=rest), "asked for now")
            else:
                at = now + timedelta(minutes=rest[0] if rest else 0)
                tick(at, everything=name == "everything")
            after = Feed.objects.filter(selected_at__isnull=False).values_list("title", flat=True)
            taken.append(sorted(set(after) - before))
    return taken


def _short(url: str) -> str:
    return url.removeprefix(SITE)


def _pass(crawl: Any, minutes: float) -> None:
    """Let this much time pass for a crawl: what was noted before is older by it."""
    from django.db.models import F  # noqa: PLC0415

    from crawler.frontier.models import Crawl  # noqa: PLC0415

    ago = timedelta(minutes=minutes)
    crawl.urls.update(queued=F("queued") - ago, not_before=F("not_before") - ago)
    Crawl.objects.filter(pk=crawl.pk).update(resumed=F("resumed") - ago, paused=F("paused") - ago)


@whole_way
def queued(given: Input) -> Any:
    """A `crawl` from /, and `steps` -> what each step returned, and what became of its addresses.

    Steps: ["find", [address, score, depth], ...], ["take", number of addresses], ["end", address, state,
    failure], ["rescope", expression, ...], ["requeue", failure, ...], ["pass", minutes], ["tend"], ["pause"],
    ["resume"], ["crawled", pages], ["room"].
    """
    from crawler.frontier.crawls import begin  # noqa: PLC0415
    from crawler.frontier.models import Crawl  # noqa: PLC0415

    crawl = begin(Crawl(**{"seeds": [f"{SITE}/"], "strategy": "link-score", **given.get("crawl", {})}))
    results = []
    for name, *rest in given["steps"]:
        crawl.refresh_from_db()
        results.append(_crawl_step(crawl, name, rest))
    crawl.refresh_from_db()
    rows = list(crawl.urls.order_by("id").values_list("url", "state", "depth"))
    return {
        "results": results,
        "states": {_short(url): state for url, state, _ in rows},
        "depths": {_short(url): depth for url, _, depth in rows},
        "state": crawl.state,
        "reason": crawl.reason,
        "order": [url for result in results if isinstance(result, list) for url in result],
    }


def _crawl_step(crawl: Any, name: str, rest: Sequence[Any]) -> Any:
    """Do one step of `queued`. Returns what it brought."""
    from crawler.frontier import crawls  # noqa: PLC0415
    from crawler.frontier.models import Crawl  # noqa: PLC0415

    now, this = datetime.now(UTC), Crawl.objects.filter(pk=crawl.pk)
    steps: dict[str, Callable[[], Any]] = {
        "find": lambda: _found(crawl, rest, now),
        "take": lambda: _taken(crawl, rest[0], now),
        "end": lambda: _end(crawl, *rest),
        "pass": lambda: _pass(crawl, rest[0]),
        "crawled": lambda: this.update(crawled=rest[0]),
        "room": lambda: crawls.room(crawl, now),
        "rescope": lambda: crawls.rescope(crawl, rest),
        "requeue": lambda: crawls.requeue(crawl, rest),
        "tend": lambda: bool(crawls.tend(now)),
        "pause": lambda: crawls.pause(this),
        "resume": lambda: crawls.resume(crawl),
    }
    return steps[name]()


def _found(crawl: Any, links: Sequence[Any], now: datetime) -> dict[str, Any]:
    """Find these links. Returns how many were new, known before, and refused."""
    from django.db import transaction  # noqa: PLC0415

    from crawler.frontier.admission import Found, admit  # noqa: PLC0415

    found = [Found(url if "//" in url else SITE + url, "intra", score, depth) for url, score, depth in links]
    with transaction.atomic():
        admitted = admit(crawl, found, now)
    return {"new": admitted.new, "twice": admitted.duplicates, "refused": dict(admitted.refused)}


def _end(crawl: Any, path: str, state: str, failure: str = "") -> None:
    """End the visit of an address in this way, or put it back into the queue."""
    from crawler.frontier.queue import renew_hosts  # noqa: PLC0415

    rows = crawl.urls.filter(url=SITE + path)
    rows.update(state=state, failure=failure, lease=None)
    renew_hosts(crawl, set(rows.values_list("host", flat=True)))


def _taken(crawl: Any, most: int, now: datetime) -> list[str]:
    """Lease addresses one by one, host by host as the crawl orders them, each host free at once."""
    from crawler.engine.leased import BatchSpace  # noqa: PLC0415
    from crawler.frontier.queue import hosts_in_order, lease_urls  # noqa: PLC0415

    urls: list[str] = []
    while len(urls) < most and (hosts := hosts_in_order(crawl, 1, now)):
        host, at = hosts[0].pk, datetime.now(UTC)
        got = lease_urls({host: uuid.uuid4()}, {host: BatchSpace(1)}, crawl, at)
        urls += [_short(one.url) for one in got.get(host, [])]
    return urls


@whole_way
def crawled(given: Input) -> Any:
    """The pages of a server and a `crawl` from `seeds` -> the addresses fetched, their depths, and the end.

    A page is the list of its links, or an answer; `{"to": address}` is a permanent redirect. OTHER stands
    for the same server under another name.
    """
    from django.db import connection  # noqa: PLC0415

    from crawler.frontier.crawls import begin  # noqa: PLC0415
    from crawler.frontier.models import Crawl  # noqa: PLC0415
    from crawler.pipeline.inline import run_crawl  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM pipeline_quad; DELETE FROM pipeline_term")
    with server_of({}) as web:
        other = web.origin.replace("127.0.0.1", "localhost")
        for path, page in given["pages"].items():
            web.replies[path] = _script(web, _answer(page, other))
        seeds = [web.origin + path for path in given.get("seeds", ["/"])]
        crawl = begin(Crawl(seeds=seeds, **given.get("crawl", {})))
        run_crawl(crawl, 2, lambda: None)
        crawl.refresh_from_db()
        rows = crawl.urls.order_by("id").values_list("url", "state", "depth", "score")
        told = {
            "fetched": sorted(url for url, state, _, _ in rows if state == "crawled"),
            "depths": {url: depth for url, _, depth, _ in rows},
            "scores": {url: score for url, _, _, score in rows},
            "asked": [path for path in web.paths if path != "/robots.txt"],
            "end": f"{crawl.state}: {crawl.reason}",
            "refused": crawl.refused,
            "requests": crawl.requests,
        }
        short = json.dumps(told).replace(web.origin, "").replace(other, OTHER)
        return json.loads(short)


def _answer(page: Any, other: str) -> dict[str, Any]:
    if isinstance(page, list):
        links = "".join(f"<p><a href='{link.replace(OTHER, other)}'>on</a></p>" for link in page)
        body = f"<!doctype html><html><head><title>P</title></head><body>{links}</body></html>"
        return {"headers": {"Content-Type": "text/html"}, "body": body}
    if "to" in page:
        return {"status": 301, "headers": {"Location": page["to"].replace(OTHER, other)}}
    return dict(page)


@whole_way
def kept(given: Input) -> Any:
    """`versions` of a watched page, with `settings` -> the versions that are kept and the changes told.

    `whole` says whether each version begins when the one before it ends; `records` are those of its WARC.
    """
    import io  # noqa: PLC0415

    from django.utils import timezone  # noqa: PLC0415
    from warcio.archiveiterator import ArchiveIterator  # noqa: PLC0415

    from recrawl.changes.versions import version_at, version_count, warc_chunks  # noqa: PLC0415
    from recrawl.inline import work_off  # noqa: PLC0415
    from recrawl.models import Change, WatchedPage  # noqa: PLC0415
    from recrawl.visiting.mapping import add_pages  # noqa: PLC0415
    from recrawl.visiting.visits import begin  # noqa: PLC0415

    with server_of({"/page": given["versions"][0]}) as web:
        site = add_pages([f"{web.origin}/page"], every=1.0, budget=1.0, **given.get("settings", {}))
        work_off([site])
        for version in given["versions"][1:]:
            web.replies["/page"] = _script(web, version)
            site.refresh_from_db()
            begin([site.pk], timezone.now())
            work_off([site])
        page = WatchedPage.objects.get()
        count = version_count(page)
        had = [one for number in range(count) if (one := version_at(page, number + 1))]
        changes = Change.objects.order_by("id")
        records = ArchiveIterator(io.BytesIO(b"".join(warc_chunks(page))))
        told = {
            "versions": [" / ".join(one.texts) for one in had],
            "whole": all(one.until == other.since for one, other in pairwise(had)),
            "present": had[-1].until is None if had else None,
            "none_beyond": version_at(page, count + 1) is None and version_at(page, 0) is None,
            "changes": list(changes.values_list("kind", flat=True)),
            "told": list(changes.counting().values_list("kind", flat=True)),
            "summaries": list(changes.values_list("summary", flat=True)),
            "records": [record.rec_type for record in records],
            "state": page.state,
        }
        return without_host(told, web.origin)


@runner
def lines_compared(given: Input) -> Any:
    """The lines of two versions -> those removed and added, and how many of each."""
    gain = difference(given["old"], given["new"])
    return {**asdict(gain), "lost": gain.lines_removed, "gained": gain.lines_added, "hunks": len(gain.hunks)}


@runner
def history_read(given: Input) -> Any:
    """The records of a history's file -> its weeks and the pages changed in each, or {"failure"}.

    `again` says whether what is written of it reads the same.
    """
    text = "".join(
        (one if isinstance(one, str) else json.dumps(one)) + "\n" for one in given["records"]
    ).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "site.jsonl")
        path.write_bytes(text[: given.get("cut")])
        try:
            history = read_history(path)
        except HistoryError as error:
            return {"failure": str(error)}
        path.write_text("".join(as_lines(history)))
        again = read_history(path)
    return {
        "weeks": [{path: checksum for path, (checksum, _) in week.items()} for week in history.weeks],
        "live": [sorted(week) for week in history.live],
        "changed": [sorted(week) for week in history.changed],
        "again": (again.top, again.dates, again.weeks) == (history.top, history.dates, history.weeks),
    }


@whole_way
def own(given: Input) -> Any:
    """A site of pages, and what is written to it in later `weeks` -> the history that is exported of it.

    A page is [text, links]; null takes it away.
    """
    from django.db.models import F  # noqa: PLC0415

    from recrawl.models import Check, Visit, WatchedPage  # noqa: PLC0415
    from recrawl.own_history import own_history  # noqa: PLC0415
    from tests.recrawl.sites import visit, watch  # noqa: PLC0415

    with server_of({}) as web:
        _publish(web, given["pages"])
        site = watch(web)
        for week in given["weeks"]:
            ago = timedelta(days=7)
            Visit.objects.update(started=F("started") - ago)
            Check.objects.update(at=F("at") - ago)
            WatchedPage.objects.update(first_seen=F("first_seen") - ago)
            _publish(web, week)
            visit(site)
        history = own_history(site)
        told = {
            "weeks": [{path: checksum for path, (checksum, _) in week.items()} for week in history.weeks],
            "changed": [sorted(week) for week in history.changed],
            "name": history.name,
        }
        return without_host(told, web.origin)


def _publish(web: Any, pages: Mapping[str, Any]) -> None:
    for path, page in pages.items():
        if page is None:
            web.replies.pop(path, None)
        elif isinstance(page, dict):
            web.replies[path] = _script(web, page)
        else:
            text, links = page
            anchors = "".join(f"<p><a href='{link}'>to {link}</a></p>" for link in links)
            body = (
                f"<!doctype html><html><head><title>{path}</title></head><body><p>{text}</p>{anchors}</body>"
            )
            web.replies[path] = _script(web, {"headers": {"Content-Type": "text/html"}, "body": body})
