"""Articles as rows of an export: their keys from one cursor, then each chunk of them in a query or two.

The keys alone stand in the cursor, so that the first row comes at once and PostgreSQL keeps no texts aside.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.db.models import Case, F, FilteredRelation, Q, QuerySet, TextField, Value, When
from django.db.models.functions import Left

from articles.body import text_of
from articles.exporting.formats import ExportFormat
from articles.exporting.rows import ExportedQuote, ExportRow, doi_in
from articles.models import Article, Page, Subscriber
from articles.saved.models import Highlight
from articles.things.people import names_of, site_of
from crawler.engine.models import Deployment
from crawler.messages import MAX_BYTES
from crawler.reading.inflate import inflated
from crawler.reading.sources.kinds import SAVED
from crawler.web.syndication.item import full_body, title_of

ROWS, ROWS_WITH_PAGES = 200, 20
"""Articles in one query: without and with their pages as they were received."""
COLUMNS = (
    "id", "url", "identity", "title", "author", "category", "categories", "language", "published", "updated",
    "fetched", "image", "summary", "feed__title", "feed__url", "feed__kind", "page__author", "saved__saved",
    "saved__note", "saved__published",
)  # fmt: skip
TEXTS = {
    "text": ("text",),
    "html": ("text", "content", "page__content"),
    "page": ("page__html", "page__content_type", "page__fetched", "page__status"),
}


def keys_in(rows: QuerySet[Any], path: str = "pk") -> Iterator[int]:
    """Yield the keys of a query's rows in its order, from a cursor on the server; ties by the newest key."""
    order = rows.query.order_by or rows.model._meta.ordering
    if order and str(order[-1]).lstrip("-") not in {"id", "pk"}:
        rows = rows.order_by(*order, "-pk")
    yield from rows.values_list(path, flat=True).iterator(chunk_size=5000)


def key_chunks(keys: Iterable[int], size: int) -> Iterator[list[int]]:
    """Yield the keys in lists of at most `size`."""
    remaining = iter(keys)
    while chunk := list(islice(remaining, size)):
        yield chunk


def article_rows(
    keys: Iterable[int], subscriber: Subscriber, form: ExportFormat, *, shared: bool = False
) -> Iterator[ExportRow]:
    """Yield the articles with these keys as the person may see them, with the person's marks and notes.

    With `shared` those of other people, too: their owners have put them into a collection.
    """
    size = ROWS_WITH_PAGES if "page" in form.needs else ROWS
    queryset, deployment = _articles(subscriber, form, shared=shared), Deployment.own_key()
    for chunk in key_chunks(keys, size):
        articles: dict[int, Any] = {article.pk: article for article in queryset.filter(pk__in=chunk)}
        highlights = _highlights(subscriber, chunk)
        for key in chunk:
            if (article := articles.pop(key, None)) is not None:
                yield _row(article, highlights[key], form, deployment)


def _articles(subscriber: Subscriber, form: ExportFormat, *, shared: bool) -> QuerySet[Article]:
    columns = [*COLUMNS, *(column for need in sorted(form.needs) for column in TEXTS[need])]
    visible_articles = Article.objects.filter(Q(owner__isnull=True) | Q(owner=subscriber.user_id))
    rows: QuerySet[Article] = Article._base_manager.all() if shared else visible_articles
    return (
        rows.select_related("feed", "page", "saved")
        .annotate(
            mark=FilteredRelation("marks", condition=Q(marks__subscriber=subscriber)),
            labels=F("mark__labels"),
            was_read=F("mark__read"),
            was_starred=F("mark__starred"),
            story_key=F("enrichment__story_id"),
            beginning=Case(
                When(title="", then=Left("text", 200)), default=Value(""), output_field=TextField()
            ),
        )
        .only(*columns)
        .order_by()
    )


def _highlights(subscriber: Subscriber, keys: Iterable[int]) -> defaultdict[int, list[ExportedQuote]]:
    by_article: defaultdict[int, list[ExportedQuote]] = defaultdict(list)
    for row in Highlight.objects.filter(subscriber=subscriber, article__in=keys).order_by("start", "id"):
        quote = ExportedQuote(row.quote, row.note, str(row.get_color_display()), row.tags)
        by_article[row.article_id].append(quote)
    return by_article


def _row(
    article: Any, highlights: list[ExportedQuote], form: ExportFormat, deployment: uuid.UUID
) -> ExportRow:
    page: Page | None = article.page
    saved = getattr(article, "saved", None)
    is_saved = article.feed.kind == SAVED
    text = article.text if form.needs else ""
    content = page.content if page is not None and "html" in form.needs else ""
    tags = dict.fromkeys([*article.categories, *([article.category] if article.category else [])])
    summary = text_of(article.summary).strip() if article.summary else ""
    return ExportRow(
        key=str(article.pk),
        uid=uuid.uuid5(deployment, f"article:{article.pk}").urn,  # as in personal feeds
        url=article.url,
        title=title_of(article.title, article.beginning or summary),
        kind="saved" if is_saved else "news",
        authors=names_of(article.author or (page.author if page else "")),
        published=saved.published if is_saved and saved else article.published,
        updated=article.updated,
        seen=article.fetched,
        saved=saved.saved if saved else None,
        site=site_of(article.url) if is_saved else article.feed.title or site_of(article.feed.url),
        feed="" if is_saved else article.feed.url,
        language=article.language,
        tags=[*tags],
        labels=article.labels or [],
        starred=article.was_starred is not None,
        read=article.was_read is not None,
        note=saved.note if saved else "",
        highlights=highlights,
        story=str(article.story_key or ""),
        doi=doi_in(article.identity, article.url),
        image=article.image,
        summary=summary,
        text=text,
        html=full_body(article.content, article.summary, text, content) if "html" in form.needs else "",
        body=_body(page) if page is not None and "page" in form.needs else b"",
        content_type=page.content_type if page is not None and "page" in form.needs else "",
        fetched=page.fetched if page is not None and "page" in form.needs else None,
    )


def _body(page: Page) -> bytes:
    """Return the page as it was received, b"" where it is not stored or damaged."""
    try:
        return inflated(bytes(page.html), MAX_BYTES) if page.html else b""
    except ValueError:
        return b""
