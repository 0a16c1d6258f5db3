"""Watched sites as histories, so that every experiment of the paper runs on a deployment's own data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import timedelta

from recrawl.models import Change, Check, Site, WatchedPage, key_of
from recrawl.replay.history import History
from recrawl.structure import is_index, raw_directory

WEEK = 7.0
Outcome = Check.Outcome


class NoHistoryError(ValueError):
    """A site that was not watched for two weeks, or whose top page is not known."""


def own_history(site: Site, days: float = WEEK, *, anonymous: bool = False) -> History:
    """Return the states of a site at the ends of its weeks, or of other steps of `days`.

    What no visit looked at counts as it was last seen; changes that do not count (`minor`) are none. Of links
    only today's are known, and stand for those of every week. A checksum is the number of changes that were
    seen, returns with another text included. An `anonymous` one has numbers in place of the words of
    addresses, and keeps which directory lies in which, for the methods decide by it. Raises NoHistoryError.
    """
    events = list(
        Check.objects.filter(visit__site=site)
        .exclude(outcome__in=[Outcome.SAME, Outcome.MINOR, Outcome.FAILED])
        .order_by("at", "id")
        .values_list("page_id", "at", "outcome")
    )
    rewritten = set(
        Change.objects.filter(site=site, kind=Change.Kind.BACK)
        .exclude(added=0, removed=0)
        .values_list("page_id", "at")
    )
    visits = list(
        site.visits.filter(finished__isnull=False).order_by("number").values_list("started", flat=True)
    )
    pages = list(
        site.pages.exclude(state=WatchedPage.State.FOUND).only(
            "id", "url", "key", "state", "leads_to", "links", "first_seen"
        )
    )
    if len(visits) < 2 or not pages:
        raise NoHistoryError("it was visited fewer than two times")
    step = timedelta(days=days)
    count = int((visits[-1] - visits[0]) / step) + 1
    if count < 2:
        raise NoHistoryError(f"it was watched for less than {2 * days:g} days")
    names = _Names() if anonymous else None
    start = 0 if site.is_list else len(site.origin)
    urls = {page.key: page.url for page in pages}
    urls |= {page.key: urls.get(key_of(page.leads_to), page.url) for page in pages if page.leads_to}

    def name(url: str) -> str:
        return names.of(url[start:]) if names else url[start:]

    links = {page.pk: tuple(name(urls[key]) for key in page.links if key in urls) for page in pages}
    versions: dict[int, int] = {}
    gone_pages: set[int] = set()
    weeks, dates, at = [], [], 0
    for number in range(count):
        end = visits[0] + (number + 1) * step
        while at < len(events) and events[at][1] < end:
            pk, moment, outcome = events[at]
            if outcome == Outcome.CHANGED or (pk, moment) in rewritten:
                versions[pk] = versions.get(pk, 0) + 1
            (gone_pages.add if outcome in {Outcome.GONE, Outcome.MOVED} else gone_pages.discard)(pk)
            at += 1
        state = {}
        for page in pages:
            if page.first_seen < end and page.pk not in gone_pages:
                state[name(page.url)] = (str(versions.get(page.pk, 0)), links[page.pk])
        weeks.append(state)
        dates.append((end - step).date().isoformat())
    top = name(site.url)
    if top not in weeks[0]:
        raise NoHistoryError("its top page is not among the pages that were found first")
    title = f"site-{site.pk}" if anonymous else site.url
    return History(title, top, dates, weeks)


def as_lines(history: History) -> Iterator[str]:
    """Yield a history in the form that `manage.py recrawl_replay` reads: a JSON object for each week."""
    before: dict[str, tuple[str, tuple[str, ...]]] = {}
    for number, (date, state) in enumerate(zip(history.dates, history.weeks, strict=True)):
        changed = {path: [each[0], list(each[1])] for path, each in state.items() if before.get(path) != each}
        record = {"week": number, "date": date, "pages": changed}
        if number:
            record["removed"] = sorted(path for path in before if path not in state)
        else:
            record["top"] = history.top
        yield json.dumps(record) + "\n"
        before = state


def packed(history: History) -> bytes:
    """Return the lines of a history under gzip."""
    return gzip.compress("".join(as_lines(history)).encode(), mtime=0)


class _Names:
    """Numbers in place of the words of addresses: the same word of the same directory has the same number."""

    def __init__(self) -> None:
        self._directories: dict[str, str] = {"": "", "/": "/"}
        self._pages: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, path: str) -> str:
        """Return the name of a page."""
        if path not in self._pages:
            directory = raw_directory(path)
            place = self._directory(directory)
            preferred_name = place if is_index(path) else f"{place}p{len(self._pages) + 1}.html"
            name = f"{place}p{len(self._pages) + 1}.html" if preferred_name in self._taken else preferred_name
            self._taken.add(name)
            self._pages[path] = name
        return self._pages[path]

    def _directory(self, path: str) -> str:
        whole, name = "", ""
        for part in path.split("/")[:-1]:
            whole += f"{part}/"
            name = self._directories.setdefault(whole, f"{name}d{len(self._directories)}/")
        return name or self._directories.get(path, "")
