"""From a feed's raw fields to the FeedDocument that a terminal sends: resolved, cleaned, dated, bounded."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from html import escape
from urllib.parse import urljoin

from crawler.reading.addresses import absolute, host
from crawler.reading.dates import Dates
from crawler.reading.documents import Enclosure, Entry, FeedDocument
from crawler.reading.feeds.details import MAX_COUNT, details_of, enclosure_of, whole_number
from crawler.reading.feeds.fingerprints import fingerprints
from crawler.reading.feeds.markup import Sanitiser, looks_like_html, plain_text
from crawler.reading.feeds.raw import Markup, RawEntry, RawFeed
from crawler.reading.feeds.titles import Kind, plain_line
from crawler.reading.language_tags import language_tag
from crawler.reading.limits import Limits
from crawler.text.bylines import plain_byline
from crawler.text.characters import indexable, storable

_PERIODS = {"hourly": 3600, "daily": 86400, "weekly": 604800, "monthly": 2592000, "yearly": 31536000}
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TAG = re.compile(r"</?[a-zA-Z]")
# Mail programs and editors wrap at 60 to 80 columns; lines of a list differ far more in length.
_WRAPPED = (55, 100)
"""Lengths of all full lines in a text that was wrapped at a width."""
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)


def document(raw: RawFeed, url: str, limits: Limits, *, well_formed: bool) -> FeedDocument:
    """Build the document of the feed at `url`."""
    builder = _Builder(raw, url, limits)
    entries = builder.entries()
    return FeedDocument(
        format=raw.format,
        title=_title(raw.title, raw.title_kind, limits),
        site_url=builder.site_url,
        self_url=_link(raw, url, "self"),
        description=plain_line(raw.description)[: limits.title],
        language=builder.language,
        hub=_link(raw, url, "hub"),
        icon=absolute(raw.base or url, raw.icon),
        image=absolute(raw.base or url, raw.image),
        ttl=_minutes(raw.ttl),
        update_period=_period(raw.update_period, raw.update_frequency),
        skip_hours=_hours(raw.skip_hours),
        skip_days=_days(raw.skip_days),
        entries=entries,
        fingerprints=fingerprints(entries),
        size=len(entries),
        well_formed=well_formed,
    )


class _Builder:
    """A builder of one document's entries, with its bases, language, author and sanitiser."""

    def __init__(self, raw: RawFeed, url: str, limits: Limits) -> None:
        self._raw = raw
        self._limits = limits
        self._sanitiser = Sanitiser(limits.room)
        self._epoch = Dates().epoch
        self._author = _person(raw.author)
        self._shared: frozenset[str] = frozenset()
        self.site_url = _link(raw, url, "alternate")
        self.language = language_tag(raw.language)
        # Feeds served by another host (FeedBurner and its like) mean links relative to their site.
        elsewhere = self.site_url and host(self.site_url) != host(url)
        self._base = self.site_url if elsewhere else url

    def entries(self) -> tuple[Entry, ...]:
        """Return entries with distinct identities in document order, the newest of too many."""
        # A publisher's empty <item/> would be an article without title, text and link.
        entries = [entry for entry in self._raw.entries if _says_anything(entry)]
        self._shared = _shared_identities(entries)
        by_identity: dict[str, RawEntry] = {}
        for entry in entries:
            self._add(by_identity, entry)
        # The newest, not the first: some feeds list their entries from the oldest on.
        if len(by_identity) > self._limits.entries:
            by_identity = _newest(by_identity, self._limits.entries, self._epoch)
        return tuple(self._guarded_entry(identity, entry) for identity, entry in by_identity.items())

    def _guarded_entry(self, identity: str, entry: RawEntry) -> Entry:
        """Build one entry. One that cannot be read keeps its title and address, and harms no other."""
        try:
            return self._entry(identity, entry)
        except Exception:  # nothing says what parsers raise on markup that was made to break them
            title = storable(entry.title, self._limits.title)
            link = next((x.href for x in entry.links if _ABSOLUTE.match(x.href)), "")
            return Entry(identity=identity, url=storable(link, self._limits.address), title=title)

    def _add(self, by_identity: dict[str, RawEntry], entry: RawEntry) -> None:
        """Add an entry under its identity, unless that entry is there already.

        Entries without guid that share the link of an earlier one are told apart by title and time (all
        releases of a program may link to one page). Their identity is the link and a digest of these.
        """
        identity = self._identity(entry)
        first = by_identity.setdefault(identity, entry)
        # brief 435: items without guid that all lead to one page were taken for one article.
        if first is not entry and not entry.identity and _said(first) != _said(entry):
            by_identity.setdefault(self._bounded(f"{identity}#{_digest(_said(entry))}"), entry)

    def _identity(self, entry: RawEntry) -> str:
        """Return the guid or id as given, else the absolute link, the title, or a digest of the content.

        Where articles share a guid, the identity is the guid with a digest of the link.
        """
        # The link before the title: titles are corrected after publication, links seldom.
        identity = storable(entry.identity or self._linked(entry)).strip() or storable(entry.title).strip()
        # One guid for all items (a constant in a template) would leave one article of the whole feed.
        if entry.identity in self._shared:
            identity = f"{identity}#{_digest(self._linked(entry))}"
        if not identity:
            text = "\0".join(
                (entry.summary.value, entry.content.value, entry.published, *(x.href for x in entry.links))
            )
            return f"digest:{_digest(text)}"
        return self._bounded(identity)

    def _bounded(self, identity: str) -> str:
        """Cut an identity to the length of an address; a cut one ends in a digest."""
        if len(identity) <= self._limits.address:
            return identity
        # Cut alone, two long addresses with the same beginning would be one article.
        return identity[: self._limits.address - 33] + "#" + _digest(identity)

    def _linked(self, entry: RawEntry) -> str:
        """Return the first link as an identity: absolute, but otherwise spelled as in the feed."""
        # As spelled: made canonical, each stored article would get a new identity when the rules of spelling
        # change.
        link = next((x.href for x in entry.links if x.rel == "alternate" and x.href.strip()), "").strip()
        if not link or _ABSOLUTE.match(link):
            return link
        try:
            return urljoin(entry.base or self._base, link)
        except ValueError:
            return link

    def _url(self, entry: RawEntry) -> str:
        """Return the first alternate link that is a web address, else a guid that is one."""
        base = entry.base or self._base
        # FeedBurner's links only count clicks and lead on; feedburner:origLink is the article itself.
        addresses = [entry.original_link, *(x.href for x in entry.links if x.rel == "alternate")]
        links = (_resolved(base, address) for address in addresses if address)
        address = next((link for link in links if link), "")
        # A guid such as "1234" would become a page of the site unless it reads as an address.
        if not address and entry.permalink and (entry.path or _ABSOLUTE.match(entry.identity)):
            address = absolute(base, entry.identity)
        return address

    def _entry(self, identity: str, entry: RawEntry) -> Entry:
        """Build one entry, resolved and clean."""
        url = self._url(entry)
        base = url or entry.base or self._base
        summary, content = self._markup(entry.summary, base), self._markup(entry.content, base)
        # Many feeds write the same text into description and content:encoded; it would be stored twice.
        if summary == content:
            summary = "" if content else summary
        texts = (plain_text(content), plain_text(summary))
        updated = self._epoch(entry.updated)
        published = self._epoch(entry.published)
        details = details_of(
            entry, updated, lambda address: _resolved(entry.base or self._base, address), self._limits
        )
        # Only for RSS: in Atom `updated` is the time of an edit, and would date old entries anew.
        if published is None and self._raw.format.startswith("rss"):
            published = updated  # RSS has one date; dc:date and atom:updated stand for it if it is missing.
        return Entry(
            identity=identity,
            url=url,
            title=_title(entry.title, entry.title_kind, self._limits),
            # Feeds of one author name it once, at the top.
            author=_person(entry.author) or self._author,
            published=published,
            updated=updated,
            summary=summary,
            content=content,
            # Feeds put the whole article into either of the two fields.
            text=max(texts, key=len),
            language=language_tag(entry.language) or self.language,
            categories=self._categories(entry),
            enclosures=self._enclosures(entry),
            details=details,
        )

    def _markup(self, markup: Markup, base: str) -> str:
        """Return sanitised HTML of a field, "" when nothing is left."""
        value = markup.value[: self._limits.markup]
        # miniflux 510: descriptions of films on YouTube are plain text whose lines ran into one.
        if "\n" in value and not _TAG.search(value):
            value = _with_breaks(value, literal=markup.literal)
        elif markup.literal and "<" in value and not looks_like_html(value):
            value = value.replace("&", "&amp;").replace("<", "&lt;")
        safe = self._sanitiser.clean(value, markup.base or base)
        if len(safe) > 5 * self._limits.markup:  # tags of a few letters that are written out
            return escape(plain_text(safe)[: self._limits.markup], quote=False)
        return safe

    def _categories(self, entry: RawEntry) -> tuple[str, ...]:
        """Return the distinct names in order."""
        names = dict.fromkeys(plain_line(c)[: self._limits.name] for c in entry.categories)
        return tuple(n for n in names if n)[: self._limits.categories]

    def _enclosures(self, entry: RawEntry) -> tuple[Enclosure, ...]:
        """Return distinct media files in order."""
        enclosures: dict[str, Enclosure] = {}
        for link in entry.links:
            url = _resolved(entry.base or self._base, link.href) if link.rel == "enclosure" else ""
            if url and url not in enclosures and len(enclosures) < self._limits.enclosures:
                enclosures[url] = enclosure_of(link, url)
        return tuple(enclosures.values())


def _resolved(base: str, reference: str) -> str:
    """Return the absolute address of a reference of an entry, "" without a valid one.

    Programs escape what is escaped already (RSS-Bridge 550): no address has `&amp;` in it.
    """
    return absolute(base, reference.replace("&amp;", "&"))


def _with_breaks(text: str, *, literal: bool) -> str:
    """Return text without tags as HTML that keeps its lines and paragraphs.

    Lines that a program has wrapped at a width are joined: all but the last of a paragraph are of about the
    same length. Issue 57: the chapters in descriptions of films ran into one line.
    """
    if literal and not looks_like_html(text):
        text = escape(text, quote=False)
    paragraphs = [part.strip().split("\n") for part in re.split(r"\n[ \t\r]*\n", text) if part.strip()]
    full = [len(line.strip()) for lines in paragraphs for line in lines[:-1]]
    is_wrapped = bool(full) and min(full) >= _WRAPPED[0] and max(full) <= _WRAPPED[1]
    glue = "\n" if is_wrapped else "<br>"
    written = [glue.join(line.strip() for line in lines) for lines in paragraphs]
    return "".join(f"<p>{part}</p>" for part in written) if len(written) > 1 else "".join(written)


def _says_anything(entry: RawEntry) -> bool:
    return bool(entry.identity or entry.title or entry.links or entry.summary.value or entry.content.value)


def _shared_identities(entries: Sequence[RawEntry]) -> frozenset[str]:
    """Return guids under which the document has different articles: their links and their titles differ."""
    first: dict[str, tuple[str, str]] = {}
    shared = set()
    for entry in entries:
        if not entry.identity:
            continue
        link, title = next((x.href for x in entry.links), ""), entry.title.strip()
        first_link, first_title = first.setdefault(entry.identity, (link, title))
        # Both must differ: an article whose title was corrected keeps its guid and its link.
        if link != first_link and title != first_title:
            shared.add(entry.identity)
    return frozenset(shared)


def _said(entry: RawEntry) -> str:
    """Return the text that tells entries with one link apart: title and time, or else the content."""
    title_and_time = (entry.title.strip(), (entry.published or entry.updated).strip())
    return "\0".join(title_and_time if any(title_and_time) else (entry.summary.value, entry.content.value))


def _title(text: str, kind: Kind, limits: Limits) -> str:
    """Return a title as one line that a database can index."""
    return indexable(plain_line(text, kind)[: limits.title])


def _link(raw: RawFeed, url: str, rel: str) -> str:
    """Return the feed's first link of a kind as a web address."""
    links = (absolute(raw.base or url, x.href) for x in raw.links if x.rel == rel)
    return next((link for link in links if link), "")


def _newest(
    by_identity: dict[str, RawEntry], count: int, epoch: Callable[[str], float | None]
) -> dict[str, RawEntry]:
    """Return the newest entries, in document order; undated ones count as old, ties by position."""
    # Undated entries of a feed that dates others are usually old announcements.
    dates = {k: epoch(e.published) or epoch(e.updated) or float("-inf") for k, e in by_identity.items()}
    newest = set(sorted(by_identity, key=lambda k: -dates[k])[:count])
    return {k: e for k, e in by_identity.items() if k in newest}


def _person(text: str) -> str:
    """Remove markup, and the mail address that RSS puts beside a name; an address alone stays."""
    # RSS writes "mail@host (Name)"; the address is nothing for a list of articles.
    line = plain_line(text)[:300]
    return plain_byline(line) or (line if "@" in line else "")


def _digest(text: str) -> str:
    """Return 32 hexadecimal digits of a text's digest."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _minutes(text: str) -> float | None:
    """Convert a ttl to seconds, None when it is missing, not positive or absurd."""
    minutes = whole_number(text, MAX_COUNT)
    # More than a year of minutes is a mistake or a wish never to be visited.
    return minutes * 60.0 if 0 < minutes <= 525600 else None


def _period(period: str, frequency: str) -> float | None:
    """Return the seconds between updates by sy:updatePeriod and sy:updateFrequency (default daily, once)."""
    if not period and not frequency:
        return None
    seconds = _PERIODS.get(period.strip().lower() or "daily")
    return seconds / max(whole_number(frequency, MAX_COUNT), 1) if seconds else None


def _hours(texts: list[str]) -> tuple[int, ...]:
    """Return hours of day; RSS 0.91 counted from 1 to 24."""
    # 24 is midnight there.
    return tuple(sorted({int(t) % 24 for t in texts if t.isascii() and t.isdigit() and int(t) <= 24}))


def _days(texts: list[str]) -> tuple[int, ...]:
    """Return the days of week with Monday = 0."""
    return tuple(sorted({_DAYS.index(t[:3].lower()) for t in texts if t[:3].lower() in _DAYS}))
