"""From a feed's raw fields to the FeedDocument that a terminal sends: resolved, cleaned, dated, bounded."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from html import escape
from urllib.parse import urljoin

from crawler.reading.addresses import absolute, host
from crawler.reading.dates import Dates
from crawler.reading.documents import Enclosure, Entry, FeedDocument
from crawler.reading.feeds.fingerprints import fingerprints
from crawler.reading.feeds.markup import Sanitiser, looks_like_html, plain_text
from crawler.reading.feeds.raw import Markup, RawEntry, RawFeed
from crawler.reading.feeds.titles import Kind, plain_line
from crawler.reading.language_tags import language_tag
from crawler.reading.limits import Limits
from crawler.text.characters import indexable, storable

_PERIODS = {"hourly": 3600, "daily": 86400, "weekly": 604800, "monthly": 2592000, "yearly": 31536000}
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MAIL_AND_NAME = re.compile(r"\S+@\S+\s+\((.+)\)|(.+?)\s+[(<]\S+@\S+[)>]")
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)


def document(raw: RawFeed, url: str, limits: Limits, *, well_formed: bool) -> FeedDocument:
    """The document that the feed at `url` gives."""
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
    """What the entries of one document share: bases, language, author and the sanitiser."""

    def __init__(self, raw: RawFeed, url: str, limits: Limits) -> None:
        self._raw = raw
        self._limits = limits
        self._sanitiser = Sanitiser(limits.room)
        self._epoch = Dates().epoch
        self._author = _person(raw.author)
        self.site_url = _link(raw, url, "alternate")
        self.language = language_tag(raw.language)
        # Feeds served by another host (FeedBurner and its like) mean links relative to their site.
        elsewhere = self.site_url and host(self.site_url) != host(url)
        self._base = self.site_url if elsewhere else url

    def entries(self) -> tuple[Entry, ...]:
        """The entries with distinct identities in document order, the newest ones when there are too many."""
        found: dict[str, RawEntry] = {}
        for entry in self._raw.entries:
            if not (
                entry.identity or entry.title or entry.links or entry.summary.value or entry.content.value
            ):
                continue
            self._add(found, entry)
        if len(found) > self._limits.entries:
            found = _newest(found, self._limits.entries, self._epoch)
        return tuple(self._entry(identity, entry) for identity, entry in found.items())

    def _add(self, found: dict[str, RawEntry], entry: RawEntry) -> None:
        """Take an entry under its identity, unless it is one that was taken.

        Those without guid that share the link of an earlier one are told apart by title and time (all
        releases of a program may link to one page); they are known by the link and a digest of these.
        """
        identity = self._identity(entry)
        first = found.setdefault(identity, entry)
        if first is not entry and not entry.identity and _said(first) != _said(entry):
            found.setdefault(self._bounded(f"{identity}#{_digest(_said(entry))}"), entry)

    def _identity(self, entry: RawEntry) -> str:
        """guid or id as given, else the absolute link, else the title, else a digest of the content."""
        identity = storable(entry.identity or self._linked(entry)).strip() or storable(entry.title).strip()
        if not identity:
            text = "\0".join(
                (entry.summary.value, entry.content.value, entry.published, *(x.href for x in entry.links))
            )
            return f"digest:{_digest(text)}"
        return self._bounded(identity)

    def _bounded(self, identity: str) -> str:
        """An identity no longer than an address; where it was, it ends in a digest."""
        if len(identity) <= self._limits.address:
            return identity
        return identity[: self._limits.address - 33] + "#" + _digest(identity)

    def _linked(self, entry: RawEntry) -> str:
        """The first link as an identity: made absolute, but otherwise spelled as the feed does."""
        link = next((x.href for x in entry.links if x.rel == "alternate" and x.href.strip()), "").strip()
        if not link or _ABSOLUTE.match(link):
            return link
        try:
            return urljoin(entry.base or self._base, link)
        except ValueError:
            return link

    def _url(self, entry: RawEntry) -> str:
        """The first alternate link that is a web address, else a guid that is one."""
        base = entry.base or self._base
        links = (absolute(base, x.href) for x in entry.links if x.rel == "alternate")
        found = next((link for link in links if link), "")
        if not found and entry.permalink and (entry.path or _ABSOLUTE.match(entry.identity)):
            found = absolute(base, entry.identity)
        return found

    def _entry(self, identity: str, entry: RawEntry) -> Entry:
        """One entry, resolved and clean."""
        url = self._url(entry)
        base = url or entry.base or self._base
        summary, content = self._markup(entry.summary, base), self._markup(entry.content, base)
        if summary == content:
            summary = "" if content else summary
        texts = (plain_text(content), plain_text(summary))
        updated = self._epoch(entry.updated)
        published = self._epoch(entry.published)
        if published is None and self._raw.format.startswith("rss"):
            published = (
                updated  # RSS has one date; dc:date and atom:updated stand for it where it is missing.
            )
        return Entry(
            identity=identity,
            url=url,
            title=_title(entry.title, entry.title_kind, self._limits),
            author=_person(entry.author) or self._author,
            published=published,
            updated=updated,
            summary=summary,
            content=content,
            text=max(texts, key=len),
            language=language_tag(entry.language) or self.language,
            categories=self._categories(entry),
            enclosures=self._enclosures(entry),
        )

    def _markup(self, markup: Markup, base: str) -> str:
        """Sanitised HTML of a field, "" when nothing is left."""
        value = markup.value[: self._limits.markup]
        if markup.literal and "<" in value and not looks_like_html(value):
            value = value.replace("&", "&amp;").replace("<", "&lt;")
        safe = self._sanitiser.clean(value, markup.base or base)
        if len(safe) > 5 * self._limits.markup:  # tags of a few letters that are written out
            return escape(plain_text(safe)[: self._limits.markup], quote=False)
        return safe

    def _categories(self, entry: RawEntry) -> tuple[str, ...]:
        """Distinct names in order."""
        names = dict.fromkeys(plain_line(c)[: self._limits.name] for c in entry.categories)
        return tuple(n for n in names if n)[: self._limits.categories]

    def _enclosures(self, entry: RawEntry) -> tuple[Enclosure, ...]:
        """Distinct media files in order."""
        found: dict[str, Enclosure] = {}
        for link in entry.links:
            url = absolute(entry.base or self._base, link.href) if link.rel == "enclosure" else ""
            if url and url not in found and len(found) < self._limits.enclosures:
                found[url] = Enclosure(url, storable(link.type)[:100], _count(link.length))
        return tuple(found.values())


def _said(entry: RawEntry) -> str:
    """What tells entries with one link apart: title and time, or what they say where both are missing."""
    said = (entry.title.strip(), (entry.published or entry.updated).strip())
    return "\0".join(said if any(said) else (entry.summary.value, entry.content.value))


def _title(text: str, kind: Kind, limits: Limits) -> str:
    """A title as one line that a database can index."""
    return indexable(plain_line(text, kind)[: limits.title])


def _link(raw: RawFeed, url: str, rel: str) -> str:
    """The feed's first link of a kind as a web address."""
    links = (absolute(raw.base or url, x.href) for x in raw.links if x.rel == rel)
    return next((link for link in links if link), "")


def _newest(
    found: dict[str, RawEntry], count: int, epoch: Callable[[str], float | None]
) -> dict[str, RawEntry]:
    """The newest entries, in document order; undated ones count as old, ties by position."""
    dates = {k: epoch(e.published) or epoch(e.updated) or float("-inf") for k, e in found.items()}
    kept = set(sorted(found, key=lambda k: -dates[k])[:count])
    return {k: e for k, e in found.items() if k in kept}


def _person(text: str) -> str:
    """A name without the mail address that RSS puts beside it."""
    line = plain_line(text)[:300]
    match = _MAIL_AND_NAME.fullmatch(line)
    return (match[1] or match[2]).strip() if match else line


def _digest(text: str) -> str:
    """32 hexadecimal digits for a text."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _count(text: str) -> int:
    """A number of bytes, 0 for anything else."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else 0


def _minutes(text: str) -> float | None:
    """A ttl in seconds, None when it is missing, not positive or absurd."""
    minutes = _count(text)
    return minutes * 60.0 if 0 < minutes <= 525600 else None


def _period(period: str, frequency: str) -> float | None:
    """Seconds between updates from sy:updatePeriod and sy:updateFrequency (default daily, once)."""
    if not period and not frequency:
        return None
    seconds = _PERIODS.get(period.strip().lower() or "daily")
    return seconds / max(_count(frequency), 1) if seconds else None


def _hours(texts: list[str]) -> tuple[int, ...]:
    """Hours of day; RSS 0.91 counted from 1 to 24."""
    return tuple(sorted({int(t) % 24 for t in texts if t.isascii() and t.isdigit() and int(t) <= 24}))


def _days(texts: list[str]) -> tuple[int, ...]:
    """Days of week with Monday = 0."""
    return tuple(sorted({_DAYS.index(t[:3].lower()) for t in texts if t[:3].lower() in _DAYS}))
