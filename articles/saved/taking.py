"""The way from another program's file to saved pages: a part at a time, each in one transaction.

What a file has is read once (`articles.saved.calls`) and kept, packed in parts, with its import. A part
that is stored moves the import's position in the same transaction, so that a process which ends in the
middle neither loses nor doubles a page.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db import DatabaseError, transaction
from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Substr
from django.utils.translation import gettext as _

from articles.models import Article, Page, Subscriber
from articles.personal.labels import add_labels_to_each
from articles.personal.marking import mark_read, star
from articles.saved.calls import SavedFileError, clean_part, read_file
from articles.saved.files import SavedHighlight
from articles.saved.highlighting import MAX_HIGHLIGHTS, cleaned_tags
from articles.saved.marks import find, plain_text
from articles.saved.models import MAX_NOTE, MAX_QUOTE, Highlight, SavedImport, SavedPage
from articles.saved.programs import INDEX_START, MAX_PROBLEMS, CleanPage, FilePart, index_length, unpacked
from articles.saved.saving import PageToSave, save_pages, try_again
from crawler.database.transactions import passing
from crawler.fetching.http.urls import BadUrl
from crawler.isolation.calls import ProgramError
from crawler.text.characters import searchable, storable
from crawler.web.limits import LimitReached

log = logging.getLogger(__name__)
Problem = dict[str, object]

MAX_UNDER_WAY = 3
"""Files of one person that are taken over at a time: each has its pages in the database until then."""
MAX_LISTED = 20
SECONDS_TAKING, SECONDS_READING = 3, 15
"""Seconds after which lists renew themselves, while pages are stored and while their texts come."""
MAX_KEPT = 100
"""Imports of one person that are remembered."""
EARLIEST = datetime(1991, 1, 1, tzinfo=UTC)
FAILED = Q(article__page__status__in=[Page.Status.FAILED, Page.Status.REFUSED])
"""The condition, for a query of saved pages, that the page could not be read."""
COLORS = {
    "yellow": Highlight.Color.IMPORTANT, "orange": Highlight.Color.IMPORTANT,
    "green": Highlight.Color.CITE, "blue": Highlight.Color.QUESTION, "cyan": Highlight.Color.QUESTION,
    "purple": Highlight.Color.QUESTION, "violet": Highlight.Color.QUESTION,
    "indigo": Highlight.Color.QUESTION, "teal": Highlight.Color.CITE,
    "red": Highlight.Color.DOUBT, "pink": Highlight.Color.DOUBT, "brown": Highlight.Color.DOUBT,
}  # fmt: skip


def begin_import(subscriber: Subscriber, name: str, data: bytes) -> SavedImport:
    """Read a file of saved pages and keep what is in it; `take_some` stores its pages.

    Raises SavedFileError for a file that cannot be used, and LimitReached.
    """
    if subscriber.saved_imports.filter(position__lt=F("total")).count() >= MAX_UNDER_WAY:
        raise LimitReached(_("Wait until the files that you have sent before are taken over."))
    file = read_file(storable(name, 200), data)
    if not file.total and not file.problem_count:
        raise SavedFileError(_("There are no saved pages in this file."))
    row = SavedImport.objects.create(
        subscriber=subscriber,
        name=storable(name, 200),
        program=file.program[:40],
        content=file.content if file.total else b"",
        total=file.total,
        problems=[_problem(**asdict(problem)) for problem in file.problems],
        problem_count=file.problem_count,
    )
    kept_keys = subscriber.saved_imports.order_by("-id").values_list("pk", flat=True)[:MAX_KEPT]
    subscriber.saved_imports.exclude(pk__in=list(kept_keys)).delete()
    return row


def take_some(import_id: int, *, waits: bool = True) -> bool:
    """Store the next part of an import's pages. Returns whether there are more.

    Of two processes at one import the second waits, or without `waits` leaves it to the first.
    """
    snapshot = SavedImport.objects.defer("content").filter(pk=import_id).first()
    if snapshot is None or snapshot.is_done:
        return False
    pages, problems = _next_pages(snapshot)  # takes long, so nothing is locked meanwhile
    with transaction.atomic():
        rows = SavedImport.objects.select_for_update(of=("self",), skip_locked=not waits)
        row = rows.select_related("subscriber__user").defer("content").filter(pk=import_id).first()
        if row is None:
            return False
        if row.position != snapshot.position:  # another process has stored them
            return not row.is_done
        _add_problems(row, problems)
        if pages:
            _take_pages(row, pages, datetime.now(UTC))
        row.position = row.position + len(pages) if pages else row.total
        changed = ["position", "known", "problems", "problem_count"]
        if row.is_done:
            row.content = b""
            changed.append("content")
        row.save(update_fields=changed)
        return not row.is_done


def imports_of(subscriber: Subscriber) -> QuerySet[SavedImport]:
    """Return a person's imports, the newest first, with the numbers of waiting, stored and failed pages."""
    page = "pages__article__page"
    failed = Q(**{f"{page}__status__in": [Page.Status.FAILED, Page.Status.REFUSED]})
    waiting = Q(**{f"{page}__status": Page.Status.WAITING})
    return (
        SavedImport.objects.filter(subscriber=subscriber)
        .defer("content")
        .annotate(
            waiting=Count("pages", filter=waiting),
            failed=Count("pages", filter=failed),
            stored=Count("pages") - F("waiting") - F("failed"),
        )
        .order_by("-id")
    )


def listed_imports(subscriber: Subscriber) -> dict[str, Any]:
    """Return the context of the list of a person's imports: rows, and the seconds until it is renewed."""
    rows = list(imports_of(subscriber)[:MAX_LISTED])
    under_way = [row for row in rows if row.is_under_way]
    pause = (SECONDS_READING if all(row.is_done for row in under_way) else SECONDS_TAKING) if under_way else 0
    return {"imports": rows, "renew_seconds": pause}


def failed_pages(source: SavedImport) -> QuerySet[SavedPage]:
    """Return the pages of an import that could not be read."""
    rows = source.pages.filter(FAILED).select_related("article__page").order_by("id")
    return rows.only(
        "saved", "article__url", "article__title", "article__text_length", "article__page__failure",
        "article__page__failure_detail", "article__page__status",
    )  # fmt: skip


def try_failed_again(source: SavedImport) -> int:
    """Ask for the pages of an import again that could not be read. Returns their number."""
    return try_again(
        source.subscriber, list(source.pages.filter(FAILED).values_list("article_id", flat=True))
    )


def _next_pages(row: SavedImport) -> tuple[list[CleanPage], list[Problem]]:
    """Return the pages of the part that begins at an import's position, and its problems.

    Without pages the rest of the content is damaged. Copies that take too much to be cleaned are left out.
    """
    lost = _problem(0, row.name, _("The rest of the file is lost."))
    head = _bytes_of(row, 0, INDEX_START)
    if len(head) < INDEX_START:
        return [], [lost]
    length = index_length(head)
    parts = msgspec.msgpack.decode(_bytes_of(row, INDEX_START, length), type=list[FilePart])
    part = next((part for part in parts if part.first == row.position), None)
    if part is None:
        return [], [lost]
    content = _bytes_of(row, INDEX_START + length + part.start, part.size)
    if not part.has_html:
        return [CleanPage(page) for page in unpacked(content)], []
    try:
        return clean_part(content), []
    except ProgramError as error:
        if error.kind == "busy":
            raise
        log.warning("import %d: the copies of a part are left out: %s", row.pk, error)
        pages = unpacked(content)
        why = _("The copy of this page in the file could not be read.")
        problems = [_problem(0, page.url, why) for page in pages if page.html]
        return [CleanPage(replace(page, html="")) for page in pages], problems


def _bytes_of(row: SavedImport, start: int, size: int) -> bytes:
    """Return some bytes of an import's content; PostgreSQL reads no more than the pieces they are in."""
    piece = SavedImport.objects.filter(pk=row.pk).values_list(Substr("content", start + 1, size), flat=True)
    return bytes(piece.first() or b"")


def _take_pages(row: SavedImport, pages: Sequence[CleanPage], now: datetime) -> None:
    """Store pages together; if that fails, one after another, so that one which cannot be stored is named."""
    try:
        with transaction.atomic():
            problems, known_count = _store(row, pages, now)
    except (LimitReached, ValueError, DatabaseError) as error:
        if passing(error):
            raise
        problems, known_count = [], 0
        for page in pages:
            try:
                with transaction.atomic():
                    some, number = _store(row, [page], now)
            except LimitReached as limit:
                some, number = [_problem(0, page.page.url, str(limit))], 0
            except (ValueError, DatabaseError) as fault:
                if passing(fault):
                    raise
                log.warning("import %d: %s: %s", row.pk, type(fault).__name__, fault)
                some, number = [_problem(0, page.page.url, _("The page could not be stored."))], 0
            problems, known_count = problems + some, known_count + number
    _add_problems(row, problems)
    row.known += known_count


def _store(row: SavedImport, pages: Sequence[CleanPage], now: datetime) -> tuple[list[Problem], int]:
    """Store pages with their marks, labels and highlights. Returns the problems, and how many were known."""
    subscriber = row.subscriber
    pages_to_save = [
        PageToSave(
            page.page.url, title=page.page.title, note=page.page.note, saved=_possible(page.page.saved, now),
            content=page.page.html, text=page.text,
        )
        for page in pages
    ]  # fmt: skip
    outcomes = save_pages(subscriber, pages_to_save, now, SavedPage.Way.FILE, source=row)
    problems: list[Problem] = []
    stored: dict[int, list[CleanPage]] = {}
    known_count = 0
    for page, outcome in zip(pages, outcomes, strict=True):
        if isinstance(outcome, BadUrl):
            problems.append(_problem(0, page.page.url, _("The address is not valid.")))
            continue
        known_count += not outcome.is_new or outcome.page.article_id in stored
        stored.setdefault(outcome.page.article_id, []).append(page)
    _fill_empty({key: some[0] for key, some in stored.items() if some[0].page.html})
    if read := [key for key, some in stored.items() if any(page.page.is_read for page in some)]:
        mark_read(subscriber, read, now)
    if starred := [key for key, some in stored.items() if any(page.page.is_starred for page in some)]:
        star(subscriber, starred, now)
    labels = {key: {tag for page in some for tag in page.page.tags} for key, some in stored.items()}
    left_out = add_labels_to_each(subscriber, {key: tags for key, tags in labels.items() if tags})
    for key, names in left_out.items():
        why = _("You have as many labels as one person may have, so these were left out: %(labels)s")
        problems.append(_problem(0, stored[key][0].page.url, why % {"labels": ", ".join(names)}))
    marks = {key: [mark for page in some for mark in page.page.highlights] for key, some in stored.items()}
    problems += _add_highlights(subscriber, {key: some for key, some in marks.items() if some}, now)
    return problems, known_count


def _fill_empty(pages: dict[int, CleanPage]) -> None:
    """Give articles that have no text, as of a dead page that was saved before, the copy in the file.

    Rows that another transaction holds are left alone, for it may be storing their text.
    """
    rows = Article.objects.select_for_update(skip_locked=True).filter(pk__in=pages, text="", content="")
    changed = []
    for article in rows.only("pk").order_by("pk"):
        page = pages[article.pk]
        article.content, article.text = storable(page.page.html), searchable(storable(page.text))
        article.text_length = len(article.text)
        changed.append(article)
    Article.objects.bulk_update(changed, ["content", "text", "text_length"], batch_size=100)


def _add_highlights(
    subscriber: Subscriber, marks: dict[int, list[SavedHighlight]], now: datetime
) -> list[Problem]:
    """Store highlights by article, each once. Returns the problem if they are too many.

    Where the text is not here yet they have no place; the words are looked for when the article is shown.
    """
    if not marks:
        return []
    here = set(subscriber.highlights.filter(article__in=marks).values_list("article_id", "quote"))
    contents = dict(Article.objects.filter(pk__in=marks).exclude(content="").values_list("pk", "content"))
    rows = []
    for key, some in marks.items():
        text = plain_text(contents[key]) if key in contents else ""
        for mark in some:
            quote = storable(mark.quote, MAX_QUOTE).strip()
            if not quote or (key, quote) in here:
                continue
            here.add((key, quote))
            row = Highlight(
                subscriber=subscriber,
                article_id=key,
                quote=quote,
                color=color_of(mark.color),
                note=storable(mark.note, MAX_NOTE).strip(),
                tags=cleaned_tags(mark.tags),
                created=_possible(mark.made, now) or now,
            )
            # Only words that stand there as they are: a search for similar ones takes long.
            if quote in text and (place := find(text, quote)) is not None:
                row.start, row.end, row.before, row.after = place.start, place.end, place.before, place.after
            rows.append(row)
    if rows and (room := MAX_HIGHLIGHTS - subscriber.highlights.count()) < len(rows):
        rows, refused = rows[: max(room, 0)], rows[max(room, 0) :]
        why = _("One person can have %(count)d highlights at most.") % {"count": MAX_HIGHLIGHTS}
        Highlight.objects.bulk_create(rows, batch_size=500)
        return [_problem(0, row.quote, why) for row in refused]
    Highlight.objects.bulk_create(rows, batch_size=500)
    return []


def color_of(name: str) -> Highlight.Color:
    """Return the colour of a highlight by its name in another program, yellow for an unknown one."""
    return COLORS.get(name.strip().lower().removeprefix("highlight-"), Highlight.Color.IMPORTANT)


def _possible(moment: datetime | None, now: datetime) -> datetime | None:
    """Return a moment that the web can have seen, else None."""
    return moment if moment is not None and EARLIEST <= moment <= now else None


def _problem(line: int, text: str, why: str) -> Problem:
    return {"line": line, "text": storable(text, 200), "why": storable(why, 1000)}


def _add_problems(row: SavedImport, problems: Sequence[Problem]) -> None:
    row.problem_count += len(problems)
    row.problems = [*row.problems, *problems][:MAX_PROBLEMS]
