"""Stylesheets tried on stored documents, and finished documents transformed again for one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.db.models import Q, QuerySet

from crawler.engine.chosen import chosen
from crawler.fetching.sandboxed import client
from crawler.pipeline.documents import content_of, key_of
from crawler.pipeline.models import Document, Stylesheet
from crawler.pipeline.terms import Term, read_triples
from crawler.pipeline.transform.fitting import fits
from crawler.pipeline.transform.graph import SourceDocument
from crawler.pipeline.transform.trial import TRIAL
from crawler.reading.detect import HTML, XHTML

SECONDS = 15.0
MAX_BYTES = 5_000_000
NEWEST = 1_000
"""Documents among which one that fits is looked for."""

client.programs.add_module("crawler.pipeline.transform.trial")


def document_for(types: Sequence[str], pattern: str, url: str = "") -> Document | None:
    """Return the document at an address, or else the newest one that fits. Returns None for none."""
    documents = Document.objects.defer("triples")
    if url:
        return documents.filter(key=key_of(url)).first()
    newest = _finished(types).order_by("-id")[:NEWEST]
    return next((row for row in newest if _fits(types, pattern, row)), None)


def tried(content: str, document: Document) -> list[tuple[Term, Term, Term]]:
    """Return the statements that a stylesheet makes of a document; stores nothing. Raises ProgramError."""
    sheet = content.encode()
    request = {
        "name": TRIAL, "url": document.url, "html": document.type in {HTML, XHTML}, "sheet": len(sheet),
    }  # fmt: skip
    lines = client.programs.call(
        TRIAL, request, sheet + content_of(document), seconds=SECONDS, max_bytes=MAX_BYTES
    )
    return read_triples(lines)[0]


def read_again(sheet: Stylesheet) -> int:
    """Send finished documents that fit a stylesheet through transform again. Returns their number."""
    rows = _finished(sheet.types).only("id", "url", "type").iterator(chunk_size=5_000)
    fitting = [row.pk for row in rows if _fits(sheet.types, sheet.pattern, row)]
    return Document.objects.filter(id__in=fitting, state=Document.State.DONE).update(
        state=Document.State.DETECTED
    )


def _finished(types: Sequence[str]) -> QuerySet[Document]:
    """Return finished documents of these types (empty: all) whose content is still there."""
    of_page = Q(page__isnull=False)
    if days := chosen("RETENTION_PAGE_HTML_DAYS"):  # older pages have lost their HTML
        of_page &= Q(fetched__gte=datetime.now(UTC) - timedelta(days=days))
    has_content = Q(body__isnull=False) | of_page
    finished = Document.objects.filter(has_content, state=Document.State.DONE).defer("triples")
    return finished.filter(type__in=types) if types else finished


def _fits(types: Sequence[str], pattern: str, row: Document) -> bool:
    return fits(types, pattern, SourceDocument(row.url, row.type, b""))
