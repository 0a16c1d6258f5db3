"""Take an account at another feed reader over: feeds and folders first, then items as their feeds are here.

Each part that is read moves the cursor in the transaction that keeps it, and each part that is stored goes in
the transaction that stores it, so that a process which ends in the middle neither loses nor doubles anything.
Items wait until their feed was visited once: what it still holds comes with its own identities, and only what
it no longer holds is made of what the other server kept.
"""

from __future__ import annotations

import logging
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from articles.intake import Arrival, other_scheme, store_arrivals
from articles.models import Article, Subscriber
from articles.moving.calls import next_part, read_export_file
from articles.moving.models import Move, MovePart
from articles.moving.values import ForeignAccount, ForeignFilter, MovedFeed, MovedItem, MovedPart, MovingError
from articles.personal.archive import MarkRow, take_marks
from articles.personal.following import folder_named, follow, renew_outputs
from articles.personal.versions import touch
from articles.saved.carrying import SavedRow, take_saved_pages
from articles.saved.models import SavedPage
from articles.saved.saving import PageToSave, save_pages
from crawler.database.secrets import UnreadableError
from crawler.fetching.http.urls import BadUrl, page_key
from crawler.reading.documents import Entry
from crawler.text.characters import storable
from crawler.text.keys import digest
from crawler.text.marking import gettext_noop
from crawler.web.limits import LimitReached
from crawler.web.roles import OPERATOR, is_at_least
from feeds.adding.add import WantedFeed, add_feeds
from feeds.models import Feed

log = logging.getLogger(__name__)

ITEMS = 250
"""Items of a part."""
REHEARSED = 1_000
"""Items that a rehearsal reads; the rest is estimated."""
MAX_ITEMS = 1_000_000
MAX_OPEN = 2
"""Moves of one person at a time."""
MAX_ATTEMPTS = 5
MAX_LEFT_OUT = 500
MAX_WAIT, PAUSE = timedelta(hours=6), timedelta(seconds=30)
UNVISITED = timedelta(hours=1)
"""Time after which items no longer wait for the first visit to their feed."""
EARLIEST = datetime(1991, 1, 1, tzinfo=UTC)
_FINAL = {
    "wrong-login", "unknown-kind", "refused-address", "no-address", "no-interface", "wrong-place",
    "elsewhere", "too-large",
}  # fmt: skip
"""Kinds of failures that another attempt does not change."""

TakeFilter = Callable[[Subscriber, ForeignFilter, int | None, bool], tuple[int, Sequence[str]]]
_take_filter: list[TakeFilter] = []


def register_filters(take: TakeFilter) -> None:
    """Let another app make rules of filters: it returns how many, and the filters that have no equal."""
    _take_filter.append(take)


def begin_move(
    subscriber: Subscriber, kind: str, url: str, login: str = "", secret: str = "", *, is_rehearsal: bool
) -> Move:
    """Begin to take an account over, or to count what would come. Raises LimitReached."""
    _check_open(subscriber)
    move = Move(subscriber=subscriber, kind=kind, url=url.strip()[:2000], login=login.strip()[:200])
    move.secret, move.is_rehearsal = secret, is_rehearsal
    move.save()
    move.refresh_from_db()
    return move


def begin_file(subscriber: Subscriber, name: str, data: bytes, *, is_rehearsal: bool) -> Move:
    """Begin to take a file over. Raises MovingError for one that cannot be used, and LimitReached."""
    _check_open(subscriber)
    part = read_export_file(name, data)
    now = datetime.now(UTC)
    with transaction.atomic():
        move = Move.objects.create(
            subscriber=subscriber,
            kind=Move.Kind.FILE,
            url=storable(name, 200),
            is_rehearsal=is_rehearsal,
            about=len(part.items),
        )
        _keep(move, msgspec.structs.replace(part, cursor=""), now)
        move.save()
    return move


def go_on(move_id: int, now: datetime) -> float | None:
    """Do the next step of a move. Returns the seconds until the next one is due, None after the last."""
    move = Move.objects.select_related("subscriber__user").filter(pk=move_id).first()
    if move is None or not move.is_open:
        return None
    if move.not_before > now:
        return (move.not_before - now).total_seconds()
    if move.state == Move.State.READING:
        return _read(move, now)
    return _store(move, now)


def stop(move: Move) -> None:
    """Stop a move; what came stays."""
    with transaction.atomic():
        row = Move.objects.select_for_update().get(pk=move.pk)
        if row.is_open:
            _end(row, Move.State.STOPPED)
            row.save()


def _check_open(subscriber: Subscriber) -> None:
    states = (Move.State.READING, Move.State.STORING)
    if subscriber.moves.filter(state__in=states).count() >= MAX_OPEN:
        raise LimitReached(_("Wait until what you have begun before is done, or stop it."))


def _read(move: Move, now: datetime) -> float | None:
    """Read the next part and keep it."""
    try:
        account = ForeignAccount(move.kind, move.url, move.login, move.secret, move.cursor, ITEMS)
        part = next_part(account)
    except (MovingError, UnreadableError) as error:
        return _failed(move, error, now)
    with transaction.atomic():
        row = Move.objects.select_for_update(of=("self",)).select_related("subscriber__user").get(pk=move.pk)
        if row.state != Move.State.READING or row.parts_read != move.parts_read:
            return 0.0  # another process has kept it, or it was stopped
        if part.wait > 0:
            row.not_before = now + min(timedelta(seconds=part.wait), MAX_WAIT)
            row.cursor = part.cursor or row.cursor
        else:
            row.attempts, row.failure = 0, ""
            _keep(row, part, now)
        row.save()
        return max((row.not_before - now).total_seconds(), 0.0) if row.is_open else None


def _failed(move: Move, error: MovingError | UnreadableError, now: datetime) -> float | None:
    """Note a failure. Returns the seconds until the next attempt, None if there is none."""
    kind = error.kind if isinstance(error, MovingError) else "wrong-login"
    detail = error.detail if isinstance(error, MovingError) else str(error)
    with transaction.atomic():
        row = Move.objects.select_for_update().get(pk=move.pk)
        if not row.is_open:
            return None
        row.attempts, row.failure = row.attempts + 1, detail[:300]
        is_over = kind in _FINAL or row.attempts >= MAX_ATTEMPTS
        if is_over:
            _end(row, Move.State.FAILED)
        pause = PAUSE * 2**row.attempts
        row.not_before = now + pause
        row.save()
    return None if is_over else pause.total_seconds()


def _keep(move: Move, part: MovedPart, now: datetime) -> None:
    """Follow a part's feeds, make its rules, keep its items for later, and move the cursor."""
    move.parts_read += 1
    move.about = part.about if part.about >= 0 else move.about
    _leave_out(move, part.left_out)
    if part.feeds:
        _follow(move, part.feeds)
    for foreign in part.filters:
        _take_foreign(move, foreign)
    if move.is_rehearsal:
        _count_items(move, part.items)
    else:
        _keep_items(move, part.items)
    is_enough = move.counts.get("items", 0) >= (REHEARSED if move.is_rehearsal else MAX_ITEMS)
    move.cursor = part.cursor
    if not part.cursor or is_enough:
        move.sealed = ""
        if move.is_rehearsal or not move.counts.get("items"):
            _end(move, Move.State.DONE)
        else:
            move.state = Move.State.STORING


def _follow(move: Move, feeds: Sequence[MovedFeed]) -> None:
    """Follow feeds in their folders under their titles; what is followed already stays where it is."""
    move.count("feeds", len(feeds))
    move.count("folders", len({folder_named(feed.folder) for feed in feeds} - {""}))
    if move.is_rehearsal:
        existing_urls = set(
            Feed.objects.filter(url__in=[feed.url for feed in feeds]).values_list("url", flat=True)
        )
        move.count("feeds_known", len(existing_urls))
        return
    subscriber = move.subscriber
    for feed, outcome in zip(
        feeds, add_feeds([WantedFeed(feed.url, feed.title) for feed in feeds]), strict=True
    ):
        if outcome.feed is None:
            _leave_out(move, [outcome.message])
            continue
        move.feeds[feed.url] = outcome.feed.pk
        try:
            with transaction.atomic():
                _subscribe(subscriber, outcome.feed, feed)
                move.count("followed")
        except LimitReached as error:
            _leave_out(move, [f"{feed.url}: {error}"])
    renew_outputs(subscriber)


def _subscribe(subscriber: Subscriber, feed: Feed, moved: MovedFeed) -> None:
    title = moved.title if moved.title not in ("", feed.title) else ""
    follow(subscriber, feed, folder=moved.folder, title=title)


def _take_foreign(move: Move, foreign: ForeignFilter) -> None:
    feed = move.feeds.get(foreign.feed_url)
    if foreign.feed_url and feed is None and not move.is_rehearsal:
        _leave_out(move, [foreign.text])
        return
    for take in _take_filter:
        rule_count, left_out = take(move.subscriber, foreign, feed, move.is_rehearsal)
        move.count("rules", rule_count)
        _leave_out(move, left_out)


def _count_items(move: Move, items: Sequence[MovedItem]) -> None:
    """Count what a rehearsal sees. Stars and labels have lists of their own, so that items come again."""
    for item in items:
        key = digest(f"{item.feed_url} {_identity(item)}").hex
        if key not in move.feeds:
            move.feeds[key] = 0
            move.count("items")
            move.count("read", int(item.read))
            move.count("starred", int(item.starred is not None))
            move.count("labelled", int(bool(item.labels)))


def _keep_items(move: Move, items: Sequence[MovedItem]) -> None:
    move.count("items", len(items))
    for start in range(0, len(items), ITEMS):
        some = items[start : start + ITEMS]
        packed = zlib.compress(msgspec.msgpack.encode(some))
        MovePart.objects.create(move=move, content=packed, number=len(some))


def _store(move: Move, now: datetime) -> float | None:
    """Store the items of the first part whose feeds are here. Returns the seconds until the next step."""
    with transaction.atomic():
        row = Move.objects.select_for_update(of=("self",)).select_related("subscriber__user").get(pk=move.pk)
        if row.state != Move.State.STORING:
            return 0.0
        part = row.parts.order_by("id").first()
        if part is None:
            _end(row, Move.State.DONE)
            row.save()
            return None
        items = msgspec.msgpack.decode(zlib.decompress(part.content), type=list[MovedItem])
        waiting = set() if now - row.created > UNVISITED else _unvisited(row.feeds.values())
        ready = [item for item in items if row.feeds.get(item.feed_url) not in waiting]
        waiting_items = [item for item in items if row.feeds.get(item.feed_url) in waiting]
        _store_items(row, ready, now)
        part.delete()
        if waiting_items:  # behind the others, which may be ready
            packed = zlib.compress(msgspec.msgpack.encode(waiting_items))
            MovePart.objects.create(move=row, content=packed, number=len(waiting_items))
        row.attempts = 0 if ready else row.attempts + 1
        if not ready and row.attempts >= row.parts.count():  # all of them wait
            row.not_before, row.attempts = now + PAUSE, 0
        row.save()
        return max((row.not_before - now).total_seconds(), 0.0)


def _unvisited(feeds: Iterable[int]) -> set[int]:
    """Return the keys of those feeds that no visit has reached yet."""
    rows = Feed.objects.filter(pk__in=list(feeds), last_attempt__isnull=True, status=Feed.Status.ACTIVE)
    return set(rows.values_list("pk", flat=True))


def _store_items(move: Move, items: Sequence[MovedItem], now: datetime) -> None:
    """Give the articles of items their marks. Makes articles that are not here, where that is allowed."""
    homeless = [item for item in items if item.feed_url not in move.feeds]
    _save_homeless(move, homeless, now)
    at_home = [item for item in items if item.feed_url in move.feeds]
    identities = _identities(move.feeds, at_home)
    missing = [item for item in at_home if id(item) not in identities and _identity(item)]
    if is_at_least(move.subscriber.user, OPERATOR):  # everybody sees articles
        _make_articles(move, missing, now)
    marks = [
        MarkRow(
            feed_url=item.feed_url,
            identity=identities.get(id(item)) or _identity(item),
            read=_moment(item.published, now) if item.read else None,
            starred=_moment(item.starred, now) if item.starred is not None else None,
            labels=list(item.labels),
        )
        for item in at_home
        if id(item) in identities or _identity(item)
    ]
    before = _marked(move.subscriber)
    take_marks(move.subscriber, marks, move.feeds, now)
    for name, number in _marked(move.subscriber).items():
        move.count(name, number - before[name])


def _marked(subscriber: Subscriber) -> dict[str, int]:
    """Return how many articles a person has read, starred and labelled, those that still come included."""
    counts = {}
    for name, condition in (("read", Q(read__isnull=False)), ("starred", Q(starred__isnull=False)),
                            ("labelled", ~Q(labels=[]))):  # fmt: skip
        waiting = subscriber.carried_marks.filter(condition).count()
        counts[name] = subscriber.marks.filter(condition).count() + waiting
    return counts


def _identities(feeds: Mapping[str, int], items: Sequence[MovedItem]) -> dict[int, str]:
    """Return the identities of the articles that items are, by the items' `id()`.

    The same identity, page or address in the same feed is the same article, else the same title and time:
    interfaces such as Google Reader's do not tell the identities that feeds gave.
    """
    keys = {feeds[item.feed_url] for item in items}
    rows = Article.objects.filter(feed__in=keys)
    by_identity = {digest(item.identity): item for item in items if item.identity}
    pages = {key for item in items for key in _page_keys(item.url)}
    titles = [item.title for item in items if item.title and item.published]
    columns = ("feed_id", "identity", "identity_key", "page__url_key", "url", "title", "published")
    condition = (
        Q(identity_key__in=by_identity)
        | Q(page__url_key__in=pages)
        | Q(url__in=[item.url for item in items if item.url])
        | Q(title__in=titles)
    )
    places: dict[tuple[Any, ...], str] = {}
    for feed, identity, key, page, url, title, published in rows.filter(condition).values_list(*columns):
        places[feed, "identity", key] = identity
        for place in ((feed, "page", page), (feed, "url", url), (feed, title, int(published.timestamp()))):
            places.setdefault(place, identity)
    identities = {}
    for item in items:
        feed = feeds[item.feed_url]
        ways: list[tuple[Any, ...]] = [(feed, "identity", digest(item.identity))] if item.identity else []
        ways += [(feed, "page", key) for key in _page_keys(item.url)]
        ways += [(feed, "url", item.url)] if item.url else []
        ways += [(feed, item.title, int(item.published))] if item.title and item.published else []
        identity = next((places[way] for way in ways if way in places), "")
        if identity:
            identities[id(item)] = identity
    return identities


def _page_keys(url: str) -> list[object]:
    try:
        return [digest(page_key(address)) for address in (url, other_scheme(url)) if address]
    except BadUrl:
        return []


def _identity(item: MovedItem) -> str:
    """Return what an article of an item is known by: as of feeds, its guid, else its address."""
    return item.identity or item.url


def _make_articles(move: Move, items: Sequence[MovedItem], now: datetime) -> None:
    """Store what the feeds no longer hold. Pages are only asked for where a person has kept the article."""
    by_feed: dict[tuple[int, bool], dict[str, MovedItem]] = defaultdict(dict)
    for item in items:
        is_kept = item.starred is not None or bool(item.labels)
        by_feed[move.feeds[item.feed_url], is_kept][_identity(item)] = item
    feeds = {feed for feed, _is_kept in by_feed}
    list(Feed.objects.select_for_update(no_key=True).filter(pk__in=feeds).order_by("pk"))
    for (feed, is_kept), some in sorted(by_feed.items()):
        arrival = Arrival(feed, now.timestamp(), None, "", tuple(map(_entry, some.values())), ())
        stored = store_arrivals([arrival], pages=is_kept)
        move.count("articles", stored[feed].new)
    touch(feeds)


def _entry(item: MovedItem) -> Entry:
    return Entry(
        _identity(item), item.url, item.title, item.author, item.published, content=item.content,
        text=item.text,
    )  # fmt: skip


def _save_homeless(move: Move, items: Sequence[MovedItem], now: datetime) -> None:
    """Save what was starred or labelled in feeds that are no longer followed; the rest is left out."""
    kept_items = [item for item in items if item.url and (item.starred is not None or item.labels)]
    rows = [
        SavedRow(
            item.url,
            item.title,
            list(item.labels),
            saved=_moment(item.starred, now),
            read=_moment(item.published, now) if item.read else None,
            starred=_moment(item.starred, now) if item.starred is not None else None,
            published=_moment(item.published, now),
        )
        for item in kept_items
    ]
    pages = [
        PageToSave(
            item.url, title=item.title, saved=row.saved, content=item.content, text=item.text
        )
        for item, row in zip(kept_items, rows, strict=True)
    ]  # fmt: skip
    try:
        with transaction.atomic():
            # With the other server's copy: the page may be gone from the web (a stranger's try, issue 65).
            saved = save_pages(move.subscriber, pages, now, SavedPage.Way.FILE)
            move.count("saved", sum(not isinstance(outcome, BadUrl) and outcome.is_new for outcome in saved))
            take_saved_pages(move.subscriber, rows, now)
    except LimitReached as error:
        _leave_out(move, [str(error)])
    move.count("homeless", len(items) - len(kept_items))


def _moment(seconds: float | None, now: datetime) -> datetime:
    """Return a time that the web can have seen, else now."""
    moment = datetime.fromtimestamp(seconds, UTC) if seconds else now
    return moment if EARLIEST <= moment <= now else now


def _leave_out(move: Move, words: Iterable[str]) -> None:
    lines = list(dict.fromkeys([*move.left_out, *(storable(line, 500) for line in words)]))
    if len(lines) > MAX_LEFT_OUT:
        lines = [*lines[: MAX_LEFT_OUT - 1], gettext_noop("and more")]
    move.left_out = lines


def _end(move: Move, state: str) -> None:
    move.state, move.ended, move.sealed = state, datetime.now(UTC), ""
    if state == Move.State.DONE and not move.is_rehearsal:
        feeds = list(move.feeds.values())
        move.counts["waiting"] = move.subscriber.carried_marks.filter(feed__in=feeds).count()
    if state == Move.State.STOPPED and move.pk:
        move.parts.all().delete()
