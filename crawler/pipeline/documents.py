"""Documents on their way: stored, leased to the phases, settled. The database row is authoritative."""

from __future__ import annotations

import uuid
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, QuerySet

from crawler.database.bulk import columns_except, update_rows
from crawler.engine.chosen import chosen
from crawler.engine.leased import claimable, lease_ended, lease_until, without_suspects
from crawler.frontier.check_in import keep_bodies
from crawler.frontier.models import Crawl, CrawlUrl
from crawler.isolation import memory
from crawler.messages import Harvest
from crawler.pipeline.messages import HEAD, Done, PhaseOutcome, PhaseWork, Plugin, Sheet, Task
from crawler.pipeline.models import Document, HttpTransformer, PhaseFigure, Stylesheet
from crawler.pipeline.signals import page_contents
from crawler.pipeline.terms import plain
from crawler.reading.detect import BINARY
from crawler.reading.documents import RetrievedFeed
from crawler.text.keys import digest

State = Document.State
WAITING_FOR = {
    "detect": State.FETCHED,
    "transform": State.DETECTED,
    "index": State.TRANSFORMED,
    "extract": State.INDEXED,
}
"""The state in which a document waits for a phase."""

NEXT = {
    "detect": State.DETECTED,
    "transform": State.TRANSFORMED,
    "index": State.INDEXED,
    "extract": State.DONE,
}
BATCH = {"detect": 200, "transform": 25, "index": 50, "extract": 100}
LEASES = {"detect": 4, "transform": 8, "index": 4, "extract": 4}
"""Batches of a phase that may be out at one time: what waits for a slow phase waits in the table."""

LEASE_SECONDS = 300.0
BATCH_BYTES = memory.share(1 / 300, 2, 8)
UNPACKED_BYTES = 10_000_000


# Names of headers in any case, as HTTP has them; strict, because lax paths look into the pairs themselves.
_HEADER = """
        left(coalesce(
            jsonb_path_query_first(headers, 'strict $[*] ? (@[0] like_regex "^{}$" flag "i")') ->> 1, ''
        ), 1000)"""
_CRAWLED = f"""
    SELECT url, key, host_id, 'crawl', crawl_id, depth, body_id, NULL::bigint, content_type, status,
        {_HEADER.format("etag")}, {_HEADER.format("last-modified")}, fetched
    FROM frontier_crawlurl WHERE body_id IS NOT NULL AND
"""  # noqa: S608 - names of headers written here


def take_crawled(rows: Sequence[CrawlUrl]) -> int:
    """Store pages of crawls as documents. Returns the number of those that are new or changed.

    Of a known document only the addresses are extracted, for the new crawl.
    """
    if not rows:
        return 0
    parameters = [[row.pk for row in rows]]
    count = _take(f"{_CRAWLED} id = ANY(%s)", parameters)
    _extract_again("found.id = ANY(%s)", parameters)
    return count


def take_crawl(crawl: Crawl) -> int:
    """Store what a crawl has fetched so far. Returns the number of new or changed documents."""
    count = _take(f"{_CRAWLED} crawl_id = %s AND state = 'crawled'", [crawl.pk])
    _extract_again("found.crawl_id = %s AND found.state = 'crawled'", [crawl.pk])
    return count


def _extract_again(condition: str, parameters: Sequence[Any]) -> None:
    """Let the graphs of known documents lead the crawls that have fetched them again.

    Unchanged documents were left out: a crawl of the same files ended after its seeds, three URLs instead of
    fourteen, for nothing was extracted for it. A document on its way for a crawl that runs stays with that.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            UPDATE pipeline_document AS kept SET
                crawl_id = found.crawl_id, depth = found.depth, changed = now(),
                state = CASE kept.state WHEN 'done' THEN 'indexed' ELSE kept.state END
            FROM frontier_crawlurl AS found
            WHERE {condition} AND found.body_id IS NOT NULL AND kept.key = found.key
                AND kept.body_id = found.body_id AND kept.crawl_id IS DISTINCT FROM found.crawl_id
                AND kept.state <> 'dead' AND kept.lease IS NULL
                AND (kept.state = 'done' OR NOT EXISTS (
                    SELECT FROM frontier_crawl AS other
                    WHERE other.id = kept.crawl_id AND other.state = 'running'
                ))
            """,  # noqa: S608 - one of the conditions written above
            parameters,
        )


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document that an app has stored: a feed by its body's digest, or an article's page by its key."""

    url: str
    host: int
    source: Document.Source
    content_type: str
    fetched: datetime
    body: uuid.UUID | None = None
    page: int | None = None
    status: int = 200
    etag: str = ""
    last_modified: str = ""


def take_feeds(visits: Sequence[tuple[int, Harvest]]) -> int:
    """Store the documents that visits of feeds fetched, with their hosts. Returns their number."""
    fetched = [
        (host, visit, page)
        for host, visit in visits
        if (feed := visit.brought(RetrievedFeed)) and (page := feed.copy) and page.digest
    ]
    if not fetched:
        return 0
    keep_bodies([page for _, _, page in fetched])
    return take_stored(
        [
            StoredDocument(
                visit.final_url or visit.url,
                host,
                Document.Source.FEED,
                plain(page.content_type)[:200],
                datetime.fromtimestamp(visit.at, UTC),
                body=uuid.UUID(page.digest),
                status=visit.status,
                etag=plain(visit.etag)[:1000],
                last_modified=plain(visit.last_modified)[:1000],
            )
            for host, visit, page in fetched
        ]
    )


def take_stored(stored: Sequence[StoredDocument]) -> int:
    """Store documents of an app. Returns the number of new or changed ones."""
    if not stored:
        return 0
    rows = [
        (
            document.url,
            key_of(document.url),
            document.host,
            document.source.value,
            document.body,
            document.page,
            document.content_type,
            document.status,
            document.etag,
            document.last_modified,
            document.fetched,
        )
        for document in stored
    ]
    statement = """
        SELECT url, key, host, source, NULL::bigint, 0, body, page, type, status, etag, modified, at
        FROM unnest(
            %s::text[], %s::uuid[], %s::bigint[], %s::text[], %s::uuid[], %s::bigint[], %s::text[],
            %s::int[], %s::text[], %s::text[], %s::timestamptz[]
        ) AS given(url, key, host, source, body, page, type, status, etag, modified, at)
    """
    return _take(statement, [list(column) for column in zip(*rows, strict=True)])


def _take(select: str, parameters: Sequence[Any]) -> int:
    """Insert or renew documents from columns in the order below, except those whose content is known."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO pipeline_document AS kept (
                url, key, host_id, source, crawl_id, depth, body_id, page_id, content_type, status, etag,
                last_modified, fetched, state, type, reason, sha256, transformer, notes, triples, quads,
                version, links, failed_phase, failure, detail, attempts
            )
            SELECT DISTINCT ON (key) given.*, 'fetched', '', '', '', '', '{{}}', '', 0, 0, 0, '', '', '', 0
            FROM ({select}) AS given(
                url, key, host_id, source, crawl_id, depth, body_id, page_id, content_type, status, etag,
                last_modified, fetched
            ) ORDER BY key, fetched DESC
            ON CONFLICT (key) DO UPDATE SET
                source = EXCLUDED.source, crawl_id = EXCLUDED.crawl_id, depth = EXCLUDED.depth,
                body_id = EXCLUDED.body_id, page_id = EXCLUDED.page_id, content_type = EXCLUDED.content_type,
                status = EXCLUDED.status, etag = EXCLUDED.etag, last_modified = EXCLUDED.last_modified,
                fetched = EXCLUDED.fetched, state = 'fetched', lease = NULL, leased_until = NULL,
                attempts = 0, failed_phase = '', failure = '', detail = '', triples = '', changed = now()
            WHERE kept.body_id IS DISTINCT FROM EXCLUDED.body_id
                OR kept.page_id IS DISTINCT FROM EXCLUDED.page_id
                OR kept.content_type IS DISTINCT FROM EXCLUDED.content_type
            """,  # noqa: S608 - one of the selections written above
            parameters,
        )
        return int(cursor.rowcount)


@transaction.atomic
def lease(phase: str, now: datetime, documents: QuerySet[Document] | None = None) -> list[Document]:
    """Lease the next batch of a phase. Returns an empty list when nothing waits or enough is leased.

    A document that was lost with its worker is leased alone the next time, so that it harms no other.
    """
    every = Document.objects.all() if documents is None else documents
    waiting = every.filter(state=WAITING_FOR[phase], lease__isnull=True)
    # By losses first: a document that ended a worker waits behind all others, and then goes alone.
    rows = without_suspects(list(claimable(waiting.order_by("losses", "id"))[: BATCH[phase]]))
    lease_until(rows, now + timedelta(seconds=LEASE_SECONDS), lease=uuid.uuid4())
    return rows


def out(phase: str) -> int:
    """Count the leased batches of a phase."""
    leased = Document.objects.filter(lease__isnull=False, state=WAITING_FOR[phase])
    return leased.order_by().values("lease").distinct().count()


def work(phase: str, rows: Sequence[Document]) -> list[PhaseWork]:
    """Return messages for detect or transform, each of bounded size, for rows of one lease."""
    if not rows:
        return []
    # Detection looks at the beginning; whole bodies would fill the queue for nothing.
    bodies = _bodies(rows, HEAD if phase == "detect" else UNPACKED_BYTES)
    batches: list[list[Task]] = [[]]
    size = 0
    for row in rows:
        body = bodies.get(row.pk, b"")
        if size + len(body) > BATCH_BYTES and batches[-1]:
            batches.append([])
            size = 0
        size += len(body)
        batches[-1].append(Task(row.pk, row.url, body, row.content_type, row.type))
    expires = rows[0].leased_until.timestamp() if rows[0].leased_until else 0.0
    sheets, plugins = (_sheets(), _plugins()) if phase == "transform" else ((), ())
    return [
        PhaseWork(
            phase,
            str(rows[0].lease),
            tuple(batch),
            expires,
            hash_mail=chosen("PIPELINE_HASH_MAIL"),
            rdfa=chosen("PIPELINE_RDFA"),
            sheets=sheets,
            plugins=plugins,
            binaries=takes_binaries(),
        )
        for batch in batches
    ]


def _sheets() -> tuple[Sheet, ...]:
    enabled = Stylesheet.objects.filter(enabled=True)
    return tuple(
        Sheet(sheet.name, sheet.content, tuple(sheet.types), sheet.pattern, sheet.grddl) for sheet in enabled
    )


def _plugins() -> tuple[Plugin, ...]:
    enabled = HttpTransformer.objects.filter(enabled=True)
    return tuple(
        Plugin(plugin.name, plugin.address, tuple(plugin.types), plugin.pattern) for plugin in enabled
    )


def takes_binaries() -> bool:
    """Return whether pictures and other binary documents are wanted: by PIPELINE_FILES, or by a transformer
    that names their type.
    """
    return (
        chosen("PIPELINE_FILES")
        or HttpTransformer.objects.filter(enabled=True, types__contains=[BINARY]).exists()
    )


def content_of(row: Document) -> bytes:
    """Return the stored content of a document, at most UNPACKED_BYTES; empty if there is none."""
    return _bodies([row], UNPACKED_BYTES).get(row.pk, b"")


def _bodies(rows: Sequence[Document], max_bytes: int) -> dict[int, bytes]:
    """Return the first `max_bytes` bytes of the content of each document."""
    bodies = dict(Document.objects.filter(id__in=[row.pk for row in rows]).values_list("id", "body__content"))
    pages = {row.page: row.pk for row in rows if row.page is not None and not bodies.get(row.pk)}
    answers: list[Any] = page_contents.send(sender=Document, pages=list(pages)) if pages else []
    for _, contents in answers:
        bodies |= {pages[page]: content for page, content in contents.items()}
    # A body may be a bomb: what is longer is cut.
    return {
        key: zlib.decompressobj().decompress(content, max_bytes) for key, content in bodies.items() if content
    }


@transaction.atomic
def settle(batch: Done) -> int:
    """Store the results of detect or transform for documents still under its lease. Returns their number."""
    outcomes = {outcome.id: outcome for outcome in batch.outcomes}
    rows = Document.objects.select_for_update().filter(id__in=outcomes, lease=uuid.UUID(batch.lease))
    # In the order of ids, as all that locks documents.
    settled = [_settled(row, outcomes[row.pk], batch.phase) for row in rows.order_by("id")]
    update_rows(Document, settled, RESULTS)
    note(batch.phase, batch.worker, [outcomes[row.pk] for row in settled])
    return len(settled)


RESULTS = columns_except(
    Document, "url", "key", "host", "source", "crawl", "depth", "body", "page", "content_type", "status",
    "etag", "last_modified", "fetched", "links",
)  # fmt: skip
"""Fields of a document that detect, transform and index write: all but what was fetched, and `links`."""


def _settled(row: Document, outcome: PhaseOutcome, phase: str) -> Document:
    row.lease = row.leased_until = None
    row.changed = datetime.now(UTC)
    row.losses = 0
    # A phase that says nothing of the type leaves that of the phase before.
    row.type, row.reason = plain(outcome.type)[:12] or row.type, plain(outcome.reason)[:1000] or row.reason
    if outcome.failure:
        return bury(row, phase, outcome.failure, outcome.detail)
    row.state = NEXT[phase]
    row.failed_phase = row.failure = row.detail = ""
    if phase == "transform":
        row.sha256, row.transformer = plain(outcome.sha256)[:64], plain(outcome.transformer)[:100]
        row.notes = [plain(note) for note in outcome.notes]
        row.triples = outcome.triples
    return row


def bury(row: Document, phase: str, failure: str, detail: str) -> Document:
    """Make the document a dead letter, without saving it."""
    row.state, row.failed_phase = State.DEAD, phase
    row.failure, row.detail = plain(failure)[:20], plain(detail)[:1000]
    # A dead letter begins anew when it is sent again.
    row.triples = b""
    return row


def resend(documents: QuerySet[Document]) -> int:
    """Send dead letters through the pipeline from the beginning. Returns their number."""
    dead = documents.filter(state=State.DEAD)
    return dead.update(
        state=State.FETCHED, losses=0, failed_phase="", failure="", detail="", lease=None, leased_until=None
    )


def sweep(now: datetime) -> int:
    """Release documents lost with their workers; repeated losses make dead letters. Returns their number."""
    with transaction.atomic():
        late = claimable(Document.objects.filter(lease_ended(now)))[:1000]
        out = Document.objects.filter(pk__in=[row.pk for row in late])
        dead = list(out.lose())
        for row in dead:
            phase = next(phase for phase, state in WAITING_FOR.items() if state == row.state)
            bury(row, phase, "lost", f"its worker ended {row.losses} times while it was there")
        update_rows(Document, dead, RESULTS)
        return out.update(lease=None, leased_until=None)


def note(phase: str, worker: str, outcomes: Iterable[PhaseOutcome]) -> None:
    """Add outcomes to the figures of this minute."""
    finished = list(outcomes)
    if not finished:
        return
    minute = datetime.now(UTC).replace(second=0, microsecond=0)
    figure, _ = PhaseFigure.objects.get_or_create(phase=phase, worker=worker[:100], minute=minute)
    PhaseFigure.objects.filter(pk=figure.pk).update(
        documents=F("documents") + len(finished),
        failures=F("failures") + sum(1 for outcome in finished if outcome.failure),
        seconds=F("seconds") + sum(outcome.seconds for outcome in finished),
    )


def queues() -> dict[str, int]:
    """Count the documents that wait for each phase, and the dead letters."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT state, count(*) FROM pipeline_document WHERE state NOT IN ('done') GROUP BY state"
        )
        counts = Counter(dict(cursor.fetchall()))
    return {phase: counts[state.value] for phase, state in WAITING_FOR.items()} | {"dead": counts["dead"]}


def key_of(url: str) -> uuid.UUID:
    """Return the key under which a URL's document is stored."""
    return digest(url)
