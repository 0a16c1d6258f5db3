"""Archives of subscribers: everything they own as one ZIP file, and its way into another deployment.

The files: `feeds.opml` (subscriptions with folders), `starred.json` (JSON Feed 1.1), `marks.json`,
`topics.json`, `own-feeds.json`, `interests.json` (the learned weights), `saved.json`,
`highlights.json`, `collections.json`, `answers.json` and `rules.json` (`register_part`).
Feeds are named by address and articles by feed and identity, so that nothing depends on keys of a database.
Secret addresses stay behind.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import IO, Any

import msgspec
from django.db import connection, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.body import body_of
from articles.intake import Arrival, store_arrivals
from articles.interest.model import KINDS, SPECIAL_PRIORS, VERSION, Belief, Weights
from articles.interest.models import Interest
from articles.interest.stored import learned_weights_of, locked, pack
from articles.interest.tuning import MAX_STEP, MAX_TUNED
from articles.modelled.carrying import AnswerRow, carried_answers, take_answers
from articles.models import CarriedMark, Mark, PersonalFeed, Subscriber, Topic
from articles.personal.account import PERSONAL_FEED
from articles.personal.following import export_subscriptions, follow_opml
from articles.personal.labels import MAX_LABELS, MAX_NAMES, label_named, labels_of
from articles.personal.selection import create_personal_feed
from articles.personal.topics import TopicError, follow_topic
from articles.saved.carrying import (
    CollectionRow,
    HighlightRow,
    SavedRow,
    carried_collections,
    carried_highlights,
    carried_pages,
    take_collections,
    take_highlights,
    take_saved_pages,
)
from crawler.reading.documents import Entry
from crawler.text.keys import digest
from crawler.web.limits import LimitReached
from feeds.adding.opml import NoFeedsError, OpmlError
from feeds.models import Feed

MAX_ARCHIVE_BYTES = 50 * 1024 * 1024
MAX_FILE_BYTES = {
    "starred.json": 50 * 1024 * 1024, "marks.json": 20 * 1024 * 1024, "saved.json": 50 * 1024 * 1024,
    "highlights.json": 50 * 1024 * 1024, "answers.json": 50 * 1024 * 1024,
}  # fmt: skip
MAX_OTHER_FILE_BYTES = 2 * 1024 * 1024
"""Of one file in the archive, unpacked: what it becomes in memory is a few times as much."""
EARLIEST = datetime(1991, 1, 1, tzinfo=UTC)
MAX_MARKS = 200_000
MAX_OWN_FEEDS = 200
MAX_TOPICS = 1000
MAX_FEATURES = 5000
KEPT_FOR = timedelta(days=30)
"""Marks that wait for their articles are dropped after this time."""
README = """Everything that was yours on a Freshet, written on {now:%Y-%m-%d}.

feeds.opml      the feeds you follow, in their folders; any feed reader takes it
starred.json    your starred articles, as JSON Feed 1.1
marks.json      which articles you have read, starred and labelled
topics.json     topics you follow
own-feeds.json  the filters of your own feeds, without their secret addresses
interests.json  what was learned of your interests
saved.json      the pages you have saved: addresses, tags, notes and marks
highlights.json your highlights in articles and saved pages
collections.json  the collections that are yours, without those they are shared with
answers.json    what a language model answered you
rules.json      your rules about articles

Another Freshet takes the whole file: Account, "Your data".
"""


NUL = rb"\u0000"
"""As JSON spells the character that no text in the database can hold."""
DAMAGES = (
    zipfile.BadZipFile, zlib.error, struct.error, UnicodeDecodeError, OSError, EOFError, NotImplementedError,
    RuntimeError,
)  # fmt: skip
"""Errors of zipfile for damaged archives."""


@dataclass(frozen=True, slots=True)
class ArchivePart:
    """A file of archives that another app writes and takes: a list of rows of one kind."""

    kind: type
    write: Callable[[Subscriber], Iterable[object]]
    take: Callable[[Subscriber, Sequence[Any], Mapping[str, int], datetime], int]


_parts: dict[str, ArchivePart] = {}


def register_part(name: str, part: ArchivePart) -> None:
    """Add `name`.json to archives; `take` returns how many of its rows are new."""
    _parts[name] = part


class ArchiveError(ValueError):
    """An archive that cannot be read; the message says why."""


class StarredItem(msgspec.Struct, frozen=True):
    """A starred article in `starred.json`."""

    feed_url: str
    identity: str
    starred: datetime
    url: str = ""
    title: str = ""
    author: str = ""
    published: datetime | None = None


class JsonFeedItem(msgspec.Struct, frozen=True):
    """An item of `starred.json`, of which only Freshet's own part is read."""

    id: str
    place: StarredItem = msgspec.field(name="_freshet")


class StarredFeed(msgspec.Struct, frozen=True):
    """The JSON Feed in `starred.json`."""

    items: list[JsonFeedItem] = []


class MarkRow(msgspec.Struct, frozen=True):
    """A mark in `marks.json`."""

    feed_url: str
    identity: str
    read: datetime | None = None
    starred: datetime | None = None
    labels: list[str] = []


class OwnFeed(msgspec.Struct, frozen=True):
    """The filter of a personal feed in `own-feeds.json`."""

    name: str
    folder: str = ""
    query: str = ""
    include: list[str] = []
    exclude: list[str] = []
    categories: list[str] = []
    body: str = "full"
    order: str = "newest"


class TopicRow(msgspec.Struct, frozen=True):
    """A topic in `topics.json`."""

    kind: str
    value: str


class Interests(msgspec.Struct, frozen=True):
    """The learned weights in `interests.json`: mean, precision and time by feature.

    `tuned` and `muted` are what the subscriber has set: steps, and times since when.
    """

    version: int
    learned: int
    weights: dict[str, tuple[float, float, float]]
    tuned: dict[str, int] = {}
    muted: dict[str, float] = {}


class Taken(msgspec.Struct):
    """The numbers of what was read from an archive."""

    feeds: int = 0
    starred: int = 0
    marks: int = 0
    waiting: int = 0
    topics: int = 0
    own_feeds: int = 0
    features: int = 0
    saved: int = 0
    highlights: int = 0
    gathered: int = 0
    answers: int = 0
    rules: int = 0

    def in_words(self) -> str:
        """Return a sentence with the numbers."""
        parts = [
            words % {"count": number}
            for number, words in (
                (self.feeds, ngettext("%(count)d feed", "%(count)d feeds", self.feeds)),
                (self.starred, ngettext("%(count)d star", "%(count)d stars", self.starred)),
                (self.marks, ngettext("%(count)d mark", "%(count)d marks", self.marks)),
                (self.topics, ngettext("%(count)d topic", "%(count)d topics", self.topics)),
                (self.saved, ngettext("%(count)d saved page", "%(count)d saved pages", self.saved)),
                (self.highlights, ngettext("%(count)d highlight", "%(count)d highlights", self.highlights)),
                (
                    self.gathered,
                    ngettext(
                        "%(count)d article of a collection",
                        "%(count)d articles of collections",
                        self.gathered,
                    ),
                ),
                (
                    self.answers,
                    ngettext("%(count)d answer of a model", "%(count)d answers of a model", self.answers),
                ),
                (self.rules, ngettext("%(count)d rule", "%(count)d rules", self.rules)),
                (
                    self.own_feeds,
                    ngettext("%(count)d feed of your own", "%(count)d feeds of your own", self.own_feeds),
                ),
            )
            if number
        ]
        sentences = [
            _("Taken over: %(parts)s.") % {"parts": ", ".join(parts)}
            if parts
            else _("Everything in it was here already.")
        ]
        if self.waiting:
            waits = ngettext(
                "%(count)d mark waits for its article.",
                "%(count)d marks wait for their articles.",
                self.waiting,
            )
            sentences.append(waits % {"count": self.waiting})
        return " ".join(sentences)


def write_archive(subscriber: Subscriber, out: IO[bytes], now: datetime) -> None:
    """Write all that a subscriber owns as a ZIP file."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", README.format(now=now))
        archive.writestr("feeds.opml", export_subscriptions(subscriber))
        with archive.open("starred.json", "w") as file:
            _write_starred(file, subscriber)
        with archive.open("marks.json", "w") as file:
            _write_list(file, _marks(subscriber))
        topics = [TopicRow(topic.kind, topic.value) for topic in subscriber.topics.all()]
        archive.writestr("topics.json", _json(topics))
        own_rows = [
            {name: getattr(row, name) for name in PERSONAL_FEED} for row in subscriber.personal_feeds.all()
        ]
        archive.writestr("own-feeds.json", _json(own_rows))
        archive.writestr("interests.json", _json(_interests(subscriber)))
        with archive.open("saved.json", "w") as file:
            _write_list(file, carried_pages(subscriber))
        with archive.open("highlights.json", "w") as file:
            _write_list(file, carried_highlights(subscriber))
        with archive.open("collections.json", "w") as file:
            _write_list(file, carried_collections(subscriber))
        with archive.open("answers.json", "w") as file:
            _write_list(file, carried_answers(subscriber))
        for name, part in sorted(_parts.items()):
            with archive.open(f"{name}.json", "w") as file:
                _write_list(file, part.write(subscriber))


def read_archive(subscriber: Subscriber, data: bytes, now: datetime, *, makes_articles: bool) -> Taken:
    """Take an archive over: what is there already stays, what is missing is added.

    Feeds that are new here are added and read as others are. Marks of articles that are not here yet wait for
    them. With `makes_articles` starred articles that are not here are made, which everybody sees: only for
    files of people who may add to all feeds. Raises ArchiveError for a damaged file; what was read before the
    damage stays.
    """
    if len(data) > MAX_ARCHIVE_BYTES:
        raise ArchiveError(_("the file is larger than 50 MB"))
    counts = Taken()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if "feeds.opml" in archive.namelist():
                counts.feeds = _take_feeds(subscriber, _read(archive, "feeds.opml"))
            feeds = {feed.url: feed.pk for feed in _feeds_of(subscriber)}
            starred = _starred_in(archive)
            if makes_articles:
                _make_articles(starred, feeds, now)
            stars = [MarkRow(place.feed_url, place.identity, None, place.starred) for place in starred]
            counts.starred, _waiting = take_marks(subscriber, stars, feeds, now)
            marks = _decoded(archive, "marks.json", list[MarkRow])[:MAX_MARKS]
            counts.marks, counts.waiting = take_marks(subscriber, marks, feeds, now)
            for topic in _decoded(archive, "topics.json", list[TopicRow])[:MAX_TOPICS]:
                counts.topics += _take_topic(subscriber, topic)
            own_feeds = _decoded(archive, "own-feeds.json", list[OwnFeed])[:MAX_OWN_FEEDS]
            counts.own_feeds = sum(_take_own_feed(subscriber, row) for row in own_feeds)
            counts.features = _take_interests(subscriber, archive, feeds, now)
            pages = _decoded(archive, "saved.json", list[SavedRow])
            counts.saved = take_saved_pages(subscriber, pages, now)
            del pages  # may be large
            highlights = _decoded(archive, "highlights.json", list[HighlightRow])
            counts.highlights = take_highlights(subscriber, highlights, feeds, now)
            collections = _decoded(archive, "collections.json", list[CollectionRow])
            counts.gathered = take_collections(subscriber, collections, feeds, now)
            answers = _decoded(archive, "answers.json", list[AnswerRow])
            counts.answers = take_answers(subscriber, answers, feeds, now)
            for name, part in sorted(_parts.items()):
                rows = _decoded(archive, f"{name}.json", list[part.kind])  # type: ignore[name-defined]
                setattr(counts, name, part.take(subscriber, rows, feeds, now))
    except LimitReached as error:
        raise ArchiveError(str(error).rstrip(".")) from error
    except DAMAGES as error:
        raise ArchiveError(_("the file is no ZIP archive, or is damaged")) from error
    return counts


@transaction.atomic
def settle_carried_marks(now: datetime) -> int:
    """Give waiting marks to the articles that have arrived, and drop those that waited too long.

    Returns the number of marks given.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            WITH arrived AS (
                DELETE FROM {CarriedMark._meta.db_table} AS carried USING articles_article AS article
                WHERE article.feed_id = carried.feed_id AND article.identity_key = carried.identity_key
                RETURNING carried.subscriber_id, article.id, carried.read, carried.starred, carried.labels
            )
            INSERT INTO {Mark._meta.db_table} AS mark (subscriber_id, article_id, read, starred, labels)
            SELECT * FROM arrived ORDER BY 2
            ON CONFLICT (subscriber_id, article_id) DO UPDATE SET
                read = coalesce(mark.read, EXCLUDED.read),
                starred = coalesce(mark.starred, EXCLUDED.starred),
                labels = ARRAY(
                    SELECT DISTINCT unnest(mark.labels || EXCLUDED.labels) AS label ORDER BY label
                    LIMIT {MAX_LABELS}
                )
            """  # noqa: S608 - the tables' own names
        )
        row_count: int = cursor.rowcount
    CarriedMark.objects.filter(created__lt=now - KEPT_FOR).delete()
    return row_count


def take_marks(
    subscriber: Subscriber, marks: Iterable[MarkRow], feeds: Mapping[str, int], now: datetime
) -> tuple[int, int]:
    """Store marks by feed and identity. Returns how many found their article, and how many wait for it."""
    rows = {
        (feeds[mark.feed_url], digest(mark.identity)): mark
        for mark in marks
        if mark.feed_url in feeds and (mark.read or mark.starred or mark.labels)
    }
    names = dict.fromkeys(labels_of(subscriber))
    for mark in rows.values():
        names.update(dict.fromkeys(label_named(label) for label in mark.labels[:MAX_LABELS]))
    allowed = set(list(names)[:MAX_NAMES]) - {""}
    CarriedMark.objects.bulk_create(
        [
            CarriedMark(
                subscriber=subscriber,
                feed_id=feed,
                identity_key=key,
                read=_possible(mark.read, now),
                starred=_possible(mark.starred, now),
                labels=sorted({label_named(label) for label in mark.labels[:MAX_LABELS]} & allowed),
            )
            for (feed, key), mark in sorted(rows.items(), key=lambda row: row[0])
        ],
        ignore_conflicts=True,
        batch_size=1000,
    )
    settle_carried_marks(now)
    waiting = subscriber.carried_marks.count()
    return max(len(rows) - waiting, 0), waiting


def _marks(subscriber: Subscriber) -> Iterator[MarkRow]:
    rows = Mark.objects.filter(subscriber=subscriber).exclude(read=None, starred=None, labels=[])
    columns = ("article__feed__url", "article__identity", "read", "starred", "labels")
    for row in rows.order_by("-pk").values_list(*columns)[:MAX_MARKS].iterator(chunk_size=2000):
        yield MarkRow(*row)


def _write_starred(file: IO[bytes], subscriber: Subscriber) -> None:
    """Write the starred articles as a JSON Feed, one after the other."""
    rows = Mark.objects.filter(subscriber=subscriber, starred__isnull=False).order_by("-starred")
    rows = rows.select_related("article__feed", "article__page").defer(
        "article__search", "article__page__html", "article__feed__fingerprints"
    )
    file.write(b'{"version": "https://jsonfeed.org/version/1.1", "title": "Starred articles", "items": [')
    for number, mark in enumerate(rows.iterator(chunk_size=100)):
        article = mark.article
        assert mark.starred is not None  # noqa: S101 - selected so
        place = StarredItem(
            article.feed.url, article.identity, mark.starred, article.url, article.title, article.author,
            article.published,
        )  # fmt: skip
        item = {
            "id": article.identity,
            "url": article.url,
            "title": article.title,
            "content_html": body_of(article).shown,
            "date_published": article.published,
            "authors": [{"name": article.author}] if article.author else [],
            "tags": article.categories,
            "_freshet": place,
        }
        file.write((b",\n" if number else b"\n") + _json(item))
    file.write(b"]}\n")


def _write_list(file: IO[bytes], rows: Iterable[object]) -> None:
    file.write(b"[")
    for number, row in enumerate(rows):
        file.write((b",\n" if number else b"\n") + _json(row))
    file.write(b"]\n")


def _interests(subscriber: Subscriber) -> Interests:
    """Return the weights with feeds by address; those of feeds that are gone are left out."""
    weights, row = learned_weights_of(subscriber), Interest.objects.filter(pk=subscriber.pk).first()
    tuned, muted = (row.tuned, row.muted) if row else ({}, {})
    every = [*weights.beliefs, *tuned, *muted]
    keys = {int(name[5:]) for name in every if name.startswith("feed:") and name[5:].isdecimal()}
    urls = dict(Feed.objects.filter(pk__in=keys).values_list("pk", "url"))

    def named(values: Mapping[str, Any]) -> dict[str, Any]:
        renamed_values = {}
        for name, value in values.items():
            kind, _, key = name.partition(":")
            if kind != "feed":
                renamed_values[name] = value
            elif key.isdecimal() and int(key) in urls:
                renamed_values[f"feed:{urls[int(key)]}"] = value
        return renamed_values

    beliefs = {name: (*belief,) for name, belief in weights.beliefs.items()}
    return Interests(VERSION, weights.learned, named(beliefs), named(tuned), named(muted))


def _json(value: object) -> bytes:
    return msgspec.json.encode(value)


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a file of the archive. Raises ArchiveError for one that is too large."""
    max_bytes = MAX_FILE_BYTES.get(name, MAX_OTHER_FILE_BYTES)
    if archive.getinfo(name).compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ArchiveError(_("%(name)s is packed in a way that is not read") % {"name": name})
    with archive.open(name) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ArchiveError(
            _("%(name)s is larger than %(most)s MB") % {"name": name, "most": max_bytes // 1024 // 1024}
        )
    return content


def _decoded(archive: zipfile.ZipFile, name: str, kind: Any) -> Any:
    """Return the value of a JSON file, an empty one where the archive has none."""
    if name not in archive.namelist():
        return []
    try:
        return msgspec.json.decode(_read(archive, name).replace(NUL, b""), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ArchiveError(
            _("%(name)s is not what Freshet writes: %(error)s") % {"name": name, "error": error}
        ) from error


def _starred_in(archive: zipfile.ZipFile) -> list[StarredItem]:
    """Return the starred articles in a JSON Feed that Freshet wrote."""
    document = _decoded(archive, "starred.json", StarredFeed)
    return [item.place for item in document.items[:MAX_MARKS]] if document else []


def _feeds_of(subscriber: Subscriber) -> Iterable[Feed]:
    return Feed.objects.filter(subscriptions__subscriber=subscriber).only("pk", "url")


def _take_feeds(subscriber: Subscriber, data: bytes) -> int:
    before = subscriber.subscriptions.count()
    try:
        follow_opml(subscriber, data)
    except NoFeedsError:
        pass  # nobody has to follow a feed
    except OpmlError as error:
        raise ArchiveError(f"feeds.opml: {error}") from error
    return subscriber.subscriptions.count() - before


def _possible(moment: datetime | None, now: datetime) -> datetime | None:
    """Return a moment of a file if the web can have seen it, else now; None for None."""
    if moment is None:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware if EARLIEST <= aware <= now else now


def _take_topic(subscriber: Subscriber, topic: TopicRow) -> bool:
    """Follow a topic. Returns whether it is new; a topic that cannot be followed is left out."""
    try:
        return topic.kind in Topic.Kind.values and follow_topic(subscriber, topic.kind, topic.value)[1]
    except TopicError:
        return False


def _make_articles(starred: Iterable[StarredItem], feeds: Mapping[str, int], now: datetime) -> None:
    """Store starred articles that are not here, whose pages are then read."""
    by_feed: dict[int, list[StarredItem]] = {}
    for place in starred:
        if place.feed_url in feeds and place.identity:
            by_feed.setdefault(feeds[place.feed_url], []).append(place)
    for feed, places in sorted(by_feed.items()):
        entries = tuple(
            Entry(
                place.identity, place.url, place.title, place.author,
                moment.timestamp() if (moment := _possible(place.published, now)) else None,
            )
            for place in places
        )  # fmt: skip
        with transaction.atomic():
            Feed.objects.select_for_update().get(pk=feed)
            store_arrivals([Arrival(feed, now.timestamp(), None, "", entries, ())])


def _take_own_feed(subscriber: Subscriber, row: OwnFeed) -> bool:
    """Create a personal feed unless there is one of this name. Returns whether it was created."""
    is_known = subscriber.personal_feeds.filter(name=row.name[:200]).exists()
    is_right = row.body in PersonalFeed.Body.values and row.order in PersonalFeed.Order.values
    if is_known or not is_right or not row.name.strip():
        return False
    create_personal_feed(
        subscriber, name=row.name[:200], folder=row.folder[:400], query=row.query[:300], body=row.body,
        order=row.order, **{
            name: [word[:200] for word in getattr(row, name)[:100]]
            for name in ("include", "exclude", "categories")
        },
    )  # fmt: skip
    return True


@transaction.atomic
def _take_interests(
    subscriber: Subscriber, archive: zipfile.ZipFile, feeds: Mapping[str, int], now: datetime
) -> int:
    """Take the learned weights over if nothing was learned here yet. Returns their number."""
    interests = _decoded(archive, "interests.json", Interests)
    if not interests or interests.version != VERSION:
        return 0
    row = locked(subscriber, now)
    if row is None or row.learned:
        return 0

    def here(name: str) -> str:
        kind, _, about = name.partition(":")
        if kind == "feed":
            return f"feed:{feeds[about]}" if about in feeds else ""
        return name[:200] if kind in KINDS or name in SPECIAL_PRIORS else ""

    if not row.tuned and not row.muted:
        steps = {here(name): step for name, step in list(interests.tuned.items())[:MAX_TUNED]}
        row.tuned = {name: step for name, step in steps.items() if name and abs(step) <= MAX_STEP}
        times = {here(name): at for name, at in list(interests.muted.items())[:MAX_TUNED]}
        row.muted = {name: at for name, at in times.items() if name and 0 <= at <= now.timestamp()}
    beliefs: dict[str, Belief] = {}
    for name, (mean, precision, at) in list(interests.weights.items())[:MAX_FEATURES]:
        feature = here(name)
        if feature and abs(mean) < 100 and 0 < precision < 1e6 and 0 <= at <= now.timestamp():
            beliefs[feature] = Belief(mean, precision, at)
    learned = min(max(interests.learned, 0), 2**31 - 1)
    row.weights = pack(Weights(beliefs, learned))
    row.learned, row.changed = learned, now
    row.save()
    return len(beliefs)
