"""Watch recorded sites week by week, and compare what is reported with what has changed.

    python -m benchmarks.time_machine TIME_MACHINE WEBWORLD [--method NAME] [--budget SHARE] [--fault RATE]

TIME_MACHINE is a folder of recorded sites, WEBWORLD the script that serves them. The database is made for the
run and removed after it. The truth comes from a second server without faults: pages known to Freshet
are compared byte by byte between two weeks, and lines that a difference tells are looked for in both.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from benchmarks.database import own_database

SETTINGS = {
    "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
    "FETCH_HOST_SPACING_SECONDS": "0",
    "LOG_LEVEL": "ERROR",
}


def main() -> None:
    """Map all sites, then a visit a week."""
    arguments = _arguments()
    with own_database("time-machine", None, **SETTINGS):
        _run(arguments)


def _run(arguments: argparse.Namespace) -> None:
    from django.utils import timezone

    from recrawl.inline import work_off
    from recrawl.models import Site
    from recrawl.visiting.mapping import add_site
    from recrawl.visiting.visits import begin

    with _served(arguments, arguments.fault) as world, _served(arguments, 0.0) as truth:
        listed = _ask(world, "sites")
        names = {urlsplit(one["origin"]).hostname: one["name"] for one in listed}
        origins = [one["origin"] for one in listed]
        weeks = max(_ask(world, "week")["weeks"].values())
        sites = [add_site(origin, method=arguments.method, budget=arguments.budget) for origin in origins]
        work_off(sites)
        _ask(world, "stats?reset=1")
        total: Counter[str] = Counter()
        for week in range(1, min(weeks, arguments.weeks + 1)):
            before = {page: _body(page, truth) for site in sites for page in _known(site)}
            for port in (world, truth):
                _ask(port, f"week?set={week}")
            begin([site.pk for site in sites], timezone.now())
            work_off(sites)
            total.update(_compare(week, sites, before, truth))
        served = _ask(world, "stats")
        for site in Site.objects.order_by("id"):
            _sum_up(site, served[names[urlsplit(site.url).hostname]])
    told = {"method": arguments.method, "budget": arguments.budget, "fault": arguments.fault, **total}
    print(json.dumps(told))


def _known(site) -> list[str]:  # type: ignore[no-untyped-def]
    return list(site.pages.filter(state="live").order_by("id").values_list("url", flat=True))


def _compare(week: int, sites, before: dict[str, bytes], truth: int) -> Counter[str]:  # type: ignore[no-untyped-def]
    """Counts of the week, printed as a line."""
    from recrawl.comparing.differences import Difference
    from recrawl.models import Check, Visit

    counts: Counter[str] = Counter()
    after = {page: _body(page, truth) for page in before}
    changed = {page for page, body in before.items() if after[page] != body}
    gone = {page for page in changed if not after[page]}
    counts.update(changed=len(changed - gone), gone=len(gone))
    for visit in Visit.objects.filter(site__in=sites, number=week):
        checks = visit.checks.exclude(outcome=Check.Outcome.FAILED).select_related("page")
        for check in checks:
            counts["fetched"] += check.outcome != "new"
            seen = check.outcome in {"changed", "minor"}
            counts["seen"] += seen and check.page.url in changed
            counts["minor"] += check.outcome == "minor"
            counts["seen_gone"] += check.outcome in {"gone", "moved"} and check.page.url in gone
            counts["wrongly"] += seen and check.page.url in before and not _differs(check, changed)
            counts["new"] += check.outcome == "new"
        counts["failed"] += visit.failed
        for change in visit.changes.filter(kind__in=["edited", "template"]).select_related("page"):
            if change.page.url in changed and change.page.url in before:
                gain = Difference.unpacked(bytes(change.difference))
                old, new = _text(before[change.page.url]), _text(after[change.page.url])
                right = all(_flat(line) in new for line in gain.lines_added)
                counts["differences"] += 1
                counts["right"] += right and (
                    all(_flat(line) in old for line in gain.lines_removed) or _older(change)
                )
    print(f"week {week:2}: " + ", ".join(f"{name} {count}" for name, count in counts.items()), flush=True)
    return counts


def _differs(check, changed: set[str]) -> bool:  # type: ignore[no-untyped-def]
    """Whether the page differs from the copy, which may be older than a week."""
    return check.page.url in changed or check.age > 1


def _older(change) -> bool:  # type: ignore[no-untyped-def]
    """Whether the copy was older than a week, so that its lines are not those of the week before."""
    return bool(change.visit.checks.get(page=change.page).age > 1)


def _text(body: bytes) -> str:
    """Letters and digits of a page's text, by a reader of its own."""
    from lxml import html

    if not body:
        return ""
    root = html.fromstring(body.decode("utf-8", "replace").encode(), parser=html.HTMLParser(encoding="utf-8"))
    return _flat(" ".join(root.xpath("//text()")))  # type: ignore[arg-type]


def _flat(text: str) -> str:
    return "".join(text.split())


def _sum_up(site, served: dict[str, int]) -> None:  # type: ignore[no-untyped-def]
    """Requests and bytes of all visits, beside fetching all pages every week, and what the server counted."""
    visits = list(site.visits.filter(number__gt=0))
    figures = ("requests", "conditional", "not_modified", "bytes", "pages", "whole")
    sums = {name: sum(getattr(visit, name) for visit in visits) for name in figures}
    print(
        f"{site.url}: {sums['requests']} requests ({sums['conditional']} conditional, {sums['not_modified']} "
        f"not modified), {sums['bytes']} bytes; fetching all: {sums['pages']} requests, {sums['whole']} "
        f"bytes; the server counted {served['requests']} requests, {served['conditional']} conditional, "
        f"{served['bytes']} bytes"
    )


def _ask(port: int, what: str):  # type: ignore[no-untyped-def]
    with urlopen(f"http://127.0.0.1:{port}/__world__/{what}", timeout=30) as answer:
        return json.load(answer)


def _body(url: str, port: int) -> bytes:
    """A page as the faultless server has it, with the other's port in its links; nothing if it is gone."""
    parts = urlsplit(url)
    address = parts._replace(netloc=f"{parts.hostname}:{port}").geturl()
    try:
        with urlopen(address, timeout=30) as answer:
            body: bytes = answer.read()
    except HTTPError:
        return b""
    return body.replace(f":{port}".encode(), f":{parts.port}".encode())


@contextmanager
def _served(arguments: argparse.Namespace, fault: float) -> Iterator[int]:
    """The recorded sites on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        arguments.webworld,
        arguments.sites,
        "--port",
        str(port),
        "--fault",
        str(fault),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                _ask(port, "week")
                break
            except URLError:
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Watch recorded sites week by week.")
    parser.add_argument("sites")
    parser.add_argument("webworld")
    parser.add_argument("--method", default="adaptive")
    parser.add_argument("--budget", type=float, default=0.25)
    parser.add_argument("--fault", type=float, default=0.0)
    parser.add_argument("--weeks", type=int, default=11)
    return parser.parse_args()


if __name__ == "__main__":
    main()
