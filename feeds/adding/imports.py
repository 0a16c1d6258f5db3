"""Imports: addresses added together, the progress of their first visits, and mending of those that fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from time import monotonic
from typing import Literal

from celery import current_app
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils.translation import gettext as _

from crawler.engine.logins import take_login
from crawler.fetching.http.logins import LoginError, without_login
from crawler.fetching.http.urls import BadUrl, canonical_url
from crawler.web.limits import LimitReached, limit_of
from crawler.web.roles import EDITOR, is_at_least
from feeds.adding.add import Added, WantedFeed, add_feeds, checked_address, known_feeds, spelling
from feeds.adding.opml import Outline
from feeds.addresses import move_to
from feeds.categories import all_paths, categories_at, category_at, path_of
from feeds.models import Feed, FeedImport, ImportLine
from feeds.rules import source_key
from feeds.signals import added, wanted
from feeds.visiting.selection import retrieve_now

State = Literal["read", "known", "merged", "reading", "waiting", "failed", "refused"]
AT_ONCE = 500
"""Lines up to which a list is added while the person waits for the answer."""
_PART = 1000
# Other tasks of the same queue get their turn after these.
_SECONDS = 20.0
_OPEN = ""
"""Outcome of a line that is not added yet."""
_UNADDED: Mapping[str, State] = {
    _OPEN: "waiting",
    ImportLine.Outcome.REFUSED: "refused",
    ImportLine.Outcome.DUPLICATE: "known",
}
# After this time the message was lost, and is not only late.
_OVERDUE, _GIVEN_UP = timedelta(minutes=5), timedelta(days=1)
KEPT = timedelta(days=30)

_ADDED = Q(outcome=ImportLine.Outcome.ADDED)
_READ = _ADDED & Q(feed__last_success__isnull=False)
_FAILED = _ADDED & Q(
    feed__last_success__isnull=True,
    feed__failure_streak__gt=0,
    feed__selected_at__isnull=True,
    feed__lease__isnull=True,
)
_MERGED = _ADDED & Q(feed__isnull=True)


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of an import's lines, in total and by state.

    `articles` is the number of entries in the documents of the read feeds.
    """

    total: int
    read: int
    failed: int
    merged: int
    known: int
    refused: int
    articles: int

    @property
    def over(self) -> int:
        """Number of lines after their first visit, or without need of one."""
        return self.read + self.failed + self.merged + self.known + self.refused

    @property
    def open(self) -> int:
        """Number of lines before their first visit."""
        return self.total - self.over

    @property
    def fine(self) -> int:
        """Number of lines with a readable feed."""
        return self.read + self.merged


def state_of_line(line: ImportLine) -> State:
    """Return the state of a line, whose feed is loaded."""
    feed = line.feed
    if line.outcome != ImportLine.Outcome.ADDED:
        return _UNADDED[line.outcome]
    if feed is None:
        return "merged"
    if feed.last_success is not None:
        return "read"
    if feed.lease is not None:
        return "reading"
    return "failed" if feed.failure_streak and feed.selected_at is None else "waiting"


@transaction.atomic
def start_import(
    user: User,
    outlines: Iterable[Outline],
    *,
    name: str = "",
    folder: str = "",
    follows: bool = True,
    makes_folders: bool = True,
) -> FeedImport:
    """Remember the feeds of outlines below a folder, and add them.

    A long list is added in the background, a part at a time. Raises LimitReached, before anything is stored,
    for more feeds than the person may have.
    """
    base = path_of(folder)
    outlines = (_without_login(outline, user) for outline in outlines)
    feed_import = FeedImport.objects.create(user=user, name=name[:200], follows=follows)
    rows = iter(within_limit(user, outlines, follows=follows))
    while part := list(islice(rows, _PART)):
        paths = [(*base, *outline.folder) for outline in part]
        if makes_folders:  # which are everybody's
            categories_at({path for path in paths if path})
        ImportLine.objects.bulk_create(
            [
                ImportLine(
                    source=feed_import, text=outline.url[:2100], title=outline.title,
                    folder="/".join(path), outcome=_OPEN, kind=outline.kind, rules=dict(outline.rules),
                    is_own=outline.is_own,
                )
                for outline, path in zip(part, paths, strict=True)
            ]
        )  # fmt: skip
    lines = list(feed_import.lines.all()[: AT_ONCE + 1])
    if len(lines) > AT_ONCE:
        transaction.on_commit(partial(_send, feed_import.pk), robust=True)
    else:
        _add(feed_import, lines)
    return feed_import


def within_limit(user: User, outlines: Iterable[Outline], *, follows: bool = True) -> Iterable[Outline]:
    """Return the outlines, each feed once. Raises LimitReached for more feeds than the person may have.

    Reads no more of a list than that takes: one of 500,000 lines held the server for eleven minutes.
    """
    limit = limit_of(user, "LIMIT_FEEDS")
    if not limit:
        return _each_once(outlines)
    rows = list(islice(_each_once(outlines), limit + 1))
    if len(rows) > limit:
        message = _("This list has more than the %(limit)d feeds that one person may have here.")
        raise LimitReached(message % {"limit": limit})
    if follows:
        wanted.send(Feed, user=user, addresses=[outline.url for outline in rows])
    return rows


def go_on(pk: int) -> bool:
    """Add the next lines of a long import, for some seconds. Returns whether some are left.

    A part at a time is stored, so that a restart loses none and other work is not held up.
    """
    until, after = monotonic() + _SECONDS, 0
    while monotonic() < until:
        with transaction.atomic():
            # skip_locked: the message may come twice, and the first still works.
            free = FeedImport.objects.select_for_update(skip_locked=True, of=("self",)).select_related("user")
            feed_import = free.filter(pk=pk).first()
            if feed_import is None:
                return False
            rows = feed_import.lines.filter(outcome=_OPEN, pk__gt=after)
            lines = list(rows.order_by("pk")[:_PART])
            if not lines:
                return False
            _add_or_refuse(feed_import, lines)
            after = lines[-1].pk
    return True


def unfinished(now: datetime) -> list[int]:
    """Return long imports with lines that are not added yet, whose message may have been lost."""
    recent = FeedImport.objects.filter(created__range=(now - _GIVEN_UP, now - _OVERDUE))
    rows = ImportLine.objects.filter(source=OuterRef("pk"), outcome=_OPEN)
    return list(recent.filter(Exists(rows)).values_list("pk", flat=True))


def progress_of(feed_import: FeedImport) -> Progress:
    """Count the lines of an import by their states."""
    counts = feed_import.lines.aggregate(
        total=Count("id"),
        read=Count("id", filter=_READ),
        failed=Count("id", filter=_FAILED),
        merged=Count("id", filter=_MERGED),
        known=Count("id", filter=Q(outcome=ImportLine.Outcome.DUPLICATE)),
        refused=Count("id", filter=Q(outcome=ImportLine.Outcome.REFUSED)),
    )
    articles = Feed.objects.filter(pk__in=feed_import.lines.filter(_READ).values("feed"))
    entry_count = articles.aggregate(held=Sum("document_size", default=0))["held"]
    return Progress(**counts, articles=entry_count)


def failing_lines(feed_import: FeedImport) -> QuerySet[ImportLine]:
    """Return the lines that need a person: refused addresses, and feeds whose first visit failed."""
    rows = feed_import.lines.filter(_FAILED | Q(outcome=ImportLine.Outcome.REFUSED))
    return rows.select_related("feed").defer("feed__fingerprints")


def retry(line: ImportLine, because: str) -> None:
    """Select the feed of a line for a visit at once."""
    if line.feed is not None:
        retrieve_now(Feed.objects.filter(pk=line.feed.pk), because)


@transaction.atomic
def correct(line: ImportLine, text: str) -> None:
    """Change the address of a line, and move its feed there. Raises BadUrl.

    Adds a feed instead if the line has none, its feed was read before, or another feed has the address.
    """
    text = take_login(text)
    address = checked_address(text)
    category = category_at(path_of(line.folder))
    if line.feed is None or line.feed.last_success is not None or known_feeds(address.variants):
        (outcome,) = add_feeds([WantedFeed(text, line.title, category.pk if category else None)])
        _drop_feed(line)
        for name, value in _result(outcome).items():
            setattr(line, name, value)
    else:
        line.feed = move_to(line.feed, address.url)
    line.text = text[:2100]
    line.save()
    if line.feed is not None:
        _follow(line.source, {line.feed: line.folder})


@transaction.atomic
def drop(line: ImportLine) -> None:
    """Forget a line, and its feed where it was added by this import and never read."""
    _drop_feed(line)
    line.delete()


def forget_old(now: datetime) -> None:
    """Delete imports that are older than a month. Their feeds stay."""
    FeedImport.objects.filter(created__lt=now - KEPT).delete()


def _drop_feed(line: ImportLine) -> None:
    feed = line.feed
    if feed is not None and line.outcome == ImportLine.Outcome.ADDED and feed.last_success is None:
        line.feed = None
        feed.delete()


def _result(outcome: Added) -> dict[str, object]:
    return {"feed": outcome.feed, "outcome": outcome.outcome, "message": outcome.reason}


def _follow(feed_import: FeedImport, folders: Mapping[Feed, str]) -> None:
    """Let the person follow feeds, each in a folder of their list."""
    if folders and feed_import.follows:
        keys = {feed.pk: folder for feed, folder in folders.items()}
        added.send(Feed, user=feed_import.user, feeds=list(folders), folders=keys)


def _add(feed_import: FeedImport, lines: Sequence[ImportLine]) -> None:
    """Add the feeds of lines, and write down what became of each."""
    keys: dict[str, int] = {}
    if is_at_least(feed_import.user, EDITOR):
        keys = {"/".join(path): key for key, path in all_paths().items()}
    outcomes = add_feeds(
        [
            WantedFeed(
                line.text,
                line.title,
                keys.get(line.folder),
                line.kind,
                line.rules,
                feed_import.user_id if line.is_own else None,
            )
            for line in lines
        ]
    )
    folders: dict[Feed, str] = {}
    for line, outcome in zip(lines, outcomes, strict=True):
        for name, value in _result(outcome).items():
            setattr(line, name, value)
        if outcome.feed is not None:
            folders.setdefault(outcome.feed, line.folder)
    _write(lines)
    _follow(feed_import, folders)


def _add_or_refuse(feed_import: FeedImport, lines: Sequence[ImportLine]) -> None:
    """Add the feeds of lines; refuse them where the person has meanwhile followed as many as they may."""
    try:
        with transaction.atomic():
            _add(feed_import, lines)
    except LimitReached as error:
        for line in lines:
            line.feed, line.outcome, line.message = None, ImportLine.Outcome.REFUSED, str(error).rstrip(".")
        _write(lines)


def _write(lines: Sequence[ImportLine]) -> None:
    """Write down what became of lines, in one statement."""
    ImportLine.objects.bulk_create(
        lines, update_conflicts=True, unique_fields=["id"], update_fields=["feed", "outcome", "message"]
    )


def _without_login(outline: Outline, user: User) -> Outline:
    """Keep the login that an address holds, so that no line of an import shows it. Returns the outline.

    What is behind it belongs to who has given it.
    """
    bare, pair = without_login(outline.url)
    if pair is None:
        return outline
    with suppress(BadUrl, LoginError):  # its line will say so
        take_login(outline.url, user.pk)
    return replace(outline, url=bare, is_own=True)


def _each_once(outlines: Iterable[Outline]) -> Iterator[Outline]:
    """Yield the outlines without those that name the feed of an earlier one, also in another spelling."""
    seen_keys: set[int] = set()  # hashes, which take a fraction of the memory
    for outline in outlines:
        try:
            key = hash(
                source_key(
                    spelling(canonical_url(outline.url)), outline.kind, outline.rules, int(outline.is_own)
                )
            )
        except BadUrl:
            key = hash(outline.url)
        if key not in seen_keys:
            seen_keys.add(key)
            yield outline


def _send(pk: int) -> None:
    """Enqueue the task that goes on with an import. A later tick repeats a lost message."""
    current_app.send_task("feeds.tasks.go_on_with_import", (pk,), retry=False)


def recent_imports(user: User) -> list[FeedImport]:
    """Return the person's imports of the last day, newest first."""
    since = datetime.now(UTC) - timedelta(days=1)
    return list(FeedImport.objects.filter(user=user, created__gte=since)[:3])
