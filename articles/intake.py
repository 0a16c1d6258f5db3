"""Storage of the entries of retrieved feeds, exactly once per feed and identity."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from msgspec import to_builtins

from articles.dating import Dated, date_entry, date_first_entries, delay
from articles.edits.history import Sighting, Text, edit_between, look_soon, record
from articles.edits.models import ArticleVersion
from articles.models import Article, Page
from articles.pictures import attached_picture, first_picture
from crawler.database.bulk import insert_rows, row_builder
from crawler.database.prepared import planned_rows
from crawler.engine.models import Host
from crawler.fetching.http.urls import BadUrl, host_key, page_key
from crawler.reading.documents import Enclosure, Entry
from crawler.text.characters import MAX_INDEXED_CHARACTERS, searchable
from crawler.text.keys import digest
from feeds.visiting.visits import StoredEntries

# Feeds with a counter or an advert in the text would get a version at each visit.
MAX_REVISIONS = 24  # an entry that changes at every visit is no longer followed


@dataclass(frozen=True, slots=True)
class Arrival:
    """New and edited entries of one feed, in the document's order (usually newest first)."""

    feed_id: int
    at: float
    previous: float | None
    language: str
    entries: tuple[Entry, ...]
    edited: tuple[Entry, ...]
    owner: int | None = None


_new_article = row_builder(Article)


def store_arrivals(
    arrivals: Sequence[Arrival], *, pages: bool = True, pictures: bool = True
) -> dict[int, StoredEntries]:
    """Store entries inside the caller's transaction, which holds the feeds' rows. Returns results by feed id.

    Entries stored already are left alone, so storing an arrival twice changes nothing. With `pages` every new
    article gets its page row: waiting to be downloaded, or already stored by another feed. Without `pictures`
    none stands for an article in lists: it would be asked for before anybody opens the article.
    """
    keys = [[digest(entry.identity) for entry in arrival.entries] for arrival in arrivals]
    stored_keys = _known_keys(arrivals, keys)
    stored_keys |= _renew_identities(arrivals, keys, stored_keys)
    new_rows: list[Article] = []
    results: dict[int, StoredEntries] = {}
    for arrival, entry_keys in zip(arrivals, keys, strict=True):
        dated: list[Dated] = []
        rows: list[Article] = []
        first: list[Dated] = []
        # The first document's articles are months old; "seen just now" would put all of them on top.
        if arrival.previous is None:
            claims = [(entry.published, entry.updated) for entry in arrival.entries]
            first = date_first_entries(claims, arrival.at)
        for position, (entry, key) in enumerate(zip(arrival.entries, entry_keys, strict=True)):
            if (arrival.feed_id, key) in stored_keys:
                continue
            stored_keys.add((arrival.feed_id, key))
            date = (
                # Position keeps the document's order among entries without dates.
                first[position] if first else date_entry(entry.published, entry.updated, arrival.at, position)
            )
            dated.append(date)
            row = _fresh(arrival, entry, key, date)
            row.image = row.image if pictures else ""
            rows.append(row)
        edited = sum(_rewrite(arrival, entry) for entry in arrival.edited)
        # Dates that were guessed here would teach the forecast our own visits instead of posts.
        published = tuple(date.published for date in dated if date.source == "feed")
        results[arrival.feed_id] = StoredEntries(len(rows), edited, published, rows)
        new_rows += rows
    if pages:
        _attach_pages(new_rows)
    insert_rows(Article, new_rows)
    return results


def lock_articles(edited: Sequence[tuple[int, str]] = (), pages: Sequence[int] = ()) -> None:
    """Lock the articles of these feeds and identities, and the articles of these pages, in one order.

    Must be the first statement on articles of a transaction that changes several. Two transactions that lock
    the articles of their feeds first and those of their pages later would deadlock. Pages and enrichments are
    locked after their articles.
    """
    if not edited and not pages:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT 1 FROM {Article._meta.db_table} WHERE id IN (
                SELECT id FROM {Article._meta.db_table} AS article
                JOIN unnest(%s::bigint[], %s::uuid[]) AS given(feed, key)
                    ON article.feed_id = given.feed AND article.identity_key = given.key
                UNION SELECT id FROM {Article._meta.db_table} WHERE page_id = ANY(%s)
            ) ORDER BY id FOR NO KEY UPDATE
            """,  # noqa: S608 - the table's own name
            [[feed for feed, _ in edited], [digest(identity) for _, identity in edited], list(pages)],
        )


def _known_keys(
    arrivals: Sequence[Arrival], keys: Sequence[Sequence[uuid.UUID]]
) -> set[tuple[int, uuid.UUID]]:
    """Return feed and identity of the entries that are stored, with one index look-up for each."""
    feeds = [arrival.feed_id for arrival, entry_keys in zip(arrivals, keys, strict=True) for _ in entry_keys]
    if not feeds:
        return set()
    key_list = ",".join(
        [key.hex for entry_keys in keys for key in entry_keys]
    )  # as text: psycopg takes longer for each key
    rows = planned_rows(
        f"""
        SELECT feed_id, identity_key FROM {Article._meta.db_table}
        JOIN unnest(%s::bigint[], %s::uuid[]) AS given(feed, key) ON feed_id = feed AND identity_key = key
        """,  # noqa: S608 - the table's own name
        [feeds, f"{{{key_list}}}"],
    )
    return {(feed, key) for feed, key in rows}


def _renew_identities(
    arrivals: Sequence[Arrival],
    keys: Sequence[Sequence[uuid.UUID]],
    stored: set[tuple[int, uuid.UUID]],
) -> set[tuple[int, uuid.UUID]]:
    """Give stored articles the new identities of their entries. Returns feed and identity of these entries.

    Sites move from http to https, and programs renew guids with all else unchanged; everything would come
    back as new and unread (issue 57). An entry is the stored one if only the scheme of its identity differs,
    or if its address, title and date are the same.
    """
    unknown = {
        (arrival.feed_id, key): entry
        for arrival, entry_keys in zip(arrivals, keys, strict=True)
        # A first document has nothing that could be renewed.
        if arrival.previous is not None
        for entry, key in zip(arrival.entries, entry_keys, strict=True)
        if (arrival.feed_id, key) not in stored
    }
    by_other_scheme = {
        (feed, digest(other_scheme(entry.identity))): (feed, key)
        for (feed, key), entry in unknown.items()
        if other_scheme(entry.identity)
    }
    by_page = {
        (feed, page): (feed, key)
        for (feed, key), entry in unknown.items()
        # Without title and date any two entries of one page would be the same (brief 435).
        if entry.title and (entry.published or entry.updated)
        for page in _page_keys(entry.url)
    }
    feeds = {feed for feed, _ in unknown}
    rows = Article.objects.filter(feed_id__in=feeds).only("feed_id", "identity_key", "title", "published")
    renewed: dict[tuple[int, uuid.UUID], int] = {}
    if by_other_scheme:
        for row in rows.filter(identity_key__in={key for _, key in by_other_scheme}):
            if target := by_other_scheme.get((row.feed_id, row.identity_key)):
                renewed[target] = row.pk
    if by_page:
        pages = rows.filter(page__url_key__in={page for _, page in by_page}).select_related("page")
        for row in pages.only("feed_id", "title", "published", "page__url_key"):
            target = by_page.get((row.feed_id, row.page.url_key)) if row.page else None
            if target and target not in renewed and _is_same(row, unknown[target]):
                renewed[target] = row.pk
    # By primary key, the order in which `lock_articles` locks.
    for (feed, key), pk in sorted(renewed.items(), key=lambda item: item[1]):
        entry = unknown[feed, key]
        Article.objects.filter(pk=pk).update(
            identity=entry.identity, identity_key=key, url=web_address(entry.url), updated=Now()
        )
    return set(renewed)


def other_scheme(address: str) -> str:
    """Return a web address with https in place of http or the other way round, "" for anything else."""
    for scheme, replacement in (("http://", "https://"), ("https://", "http://")):
        if address.startswith(scheme):
            return replacement + address.removeprefix(scheme)
    return ""


def _page_keys(url: str) -> list[uuid.UUID]:
    """Return the keys of the page at an address, by http and https."""
    try:
        return [digest(page_key(address)) for address in (url, other_scheme(url)) if address]
    except BadUrl:
        return []


def _is_same(row: Article, entry: Entry) -> bool:
    claimed = entry.published or entry.updated
    return row.title == entry.title and claimed is not None and int(row.published.timestamp()) == int(claimed)


def _fresh(arrival: Arrival, entry: Entry, key: uuid.UUID, when: Dated) -> Article:
    return _new_article(
        feed_id=arrival.feed_id,
        owner_id=arrival.owner,
        identity=entry.identity,
        identity_key=key,
        url=web_address(entry.url),
        published=datetime.fromtimestamp(when.published, UTC),
        dating=when.source,
        fetched=datetime.fromtimestamp(arrival.at, UTC),
        delay=delay(when, arrival.at, arrival.previous),
        **_feed_columns(entry, arrival.language),
    )


def _feed_columns(entry: Entry, language: str) -> dict[str, Any]:
    """Return the columns filled from the feed's entry, when it is new and when the feed edits it."""
    text = searchable(entry.text)
    enclosures = [_media(enclosure) for enclosure in entry.enclosures if web_address(enclosure.url)]
    return {
        "title": entry.title,
        "author": entry.author,
        "category": entry.categories[0][:200] if entry.categories else "",
        "categories": [tag[:MAX_INDEXED_CHARACTERS] for tag in entry.categories],
        "language": entry.language or language,
        "summary": entry.summary,
        "content": entry.content,
        "text": text,
        "text_length": len(text),
        "enclosures": enclosures,
        "details": to_builtins(entry.details),
        "image": (
            first_picture(entry.content or entry.summary)
            or entry.details.image
            or attached_picture(enclosures)
        ),
    }


def _media(enclosure: Enclosure) -> dict[str, object]:
    """Return a media file as it is stored: address, type and length, and whatever else the feed says."""
    fields: dict[str, object] = to_builtins(enclosure)
    return {"type": "", "length": 0} | fields


def _rewrite(arrival: Arrival, entry: Entry) -> int:
    """Update an article from its edited entry. Keeps the page's main text if there is one.

    Returns the number of rows changed.
    """
    columns = _feed_columns(entry, arrival.language)
    row = Article.objects.filter(
        feed_id=arrival.feed_id, identity_key=digest(entry.identity), revision__lt=MAX_REVISIONS
    )
    article = row.select_related("page").first()
    if article is None:
        return 0
    page_text = ""
    if article.page and article.page.status == Page.Status.STORED:
        page_text = article.page.text
        # The page's text is longer than a feed's teaser; an edited feed must not shorten the article.
        text = fuller(page_text, columns["text"])
        columns |= {"text": text, "text_length": len(text), "language": article.language}
        columns["image"] = columns["image"] or first_picture(article.page.content) or article.page.image
    _keep_version(article, Text(columns["title"], columns["text"]), page_text, arrival.at)
    return row.update(**columns, revision=F("revision") + 1, updated=Now())


def _keep_version(article: Article, new: Text, page_text: str, at: float) -> None:
    """Store the version of an article that its feed has edited; its page is looked at soon, too.

    A text that comes from the feed in the place of the page's, or the other way round, is no edit.
    """
    is_same_source = bool(page_text) and (article.text == page_text) == (new.text == page_text)
    old = Text(article.title, article.text)
    new = new if is_same_source or not page_text else Text(new.title, old.text)
    if edit := edit_between(old, new):
        seen_at = article.updated if article.revision else article.fetched
        when = datetime.fromtimestamp(at, UTC)
        record(article.pk, old, new, Sighting(edit, ArticleVersion.Shown.FEED, seen_at, when))
    if article.page_id:
        look_soon([article.page_id], datetime.fromtimestamp(at, UTC))


def web_address(url: str) -> str:
    """Return the URL. Returns "" for schemes that no page should link to (`javascript:`, `data:`)."""
    return url if url.startswith(("http://", "https://")) else ""


def fuller(page_text: str, feed_text: str) -> str:
    """Return the page's main text, unless it is missing or less than half as long as the feed's text."""
    return page_text if len(page_text) >= len(feed_text) / 2 and page_text else feed_text


def _attach_pages(rows: Iterable[Article]) -> None:
    """Give every new article its page, and create a waiting page for each new URL."""
    keyed: dict[tuple[str, int | None], list[Article]] = {}
    for article in rows:
        try:
            keyed.setdefault((page_key(article.url), article.owner_id), []).append(article)
        except BadUrl:
            continue  # an entry without a usable link keeps what the feed says
    if not keyed:
        return
    # A page behind a login is another one for each person: it may show what only this one may read.
    keys = {(key, owner): digest(f"{key}#{owner}" if owner else key) for key, owner in keyed}
    pages = _pages(keys.values())
    hosts = Host.objects.named({host_key(key) for key, owner in keyed if keys[key, owner] not in pages})
    missing = [
        Page(url=articles[0].url, url_key=keys[key, owner], host_id=hosts[host_key(key)], owner_id=owner)
        for (key, owner), articles in keyed.items()
        if keys[key, owner] not in pages
    ]
    if missing:
        # ignore_conflicts, then read again: two check-ins may bring the same address at once.
        Page.objects.bulk_create(missing, ignore_conflicts=True, batch_size=1000)
        pages = _pages(keys.values())
    for place, articles in keyed.items():
        for article in articles:
            _take_page(article, pages[keys[place]])


def _pages(keys: Iterable[object]) -> Mapping[object, Page]:
    rows = Page.objects.filter(url_key__in=list(keys)).only(
        "id", "url_key", "status", "text", "language", "author"
    )
    return {page.url_key: page for page in rows}


def _take_page(article: Article, page: Page) -> None:
    """Link an article to its page, and use the page's text if it is stored already."""
    article.page_id = page.id
    if page.status == Page.Status.STORED:
        article.text = fuller(page.text, article.text)
        article.text_length = len(article.text)
        article.language = page.language or article.language
        article.author = article.author or page.author
