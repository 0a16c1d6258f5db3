"""RSS 0.9x to 2.0, RSS 1.0 and Atom 0.3 and 1.0 read with libxml2: the fast path for well-formed documents.

No entity is expanded in text, nothing is loaded from anywhere, and libxml2's own limits stay on.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from lxml import etree

from crawler.reading.addresses import absolute
from crawler.reading.census import ElementCounter
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.bases import BASE, Bases
from crawler.reading.feeds.packed import from_base64
from crawler.reading.feeds.raw import Markup, RawDetails, RawEntry, RawFeed, RawLink
from crawler.reading.feeds.repair import NAMESPACES
from crawler.reading.feeds.titles import Kind
from crawler.reading.limits import Limits

# The prefix xml needs no declaration, so that lxml always spells it by its namespace.
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_FLASH = "application/x-shockwave-flash"
"""The type of players that no browser plays any more; YouTube's feeds still name them."""
_REPLIES = "{http://purl.org/syndication/thread/1.0}count"
# A limit of libxml2 is no fault that mending could help.
_RESOURCE_LIMIT = 114  # XML_ERR_RESOURCE_LIMIT of libxml2
_DEPTH = 256  # of libxml2, too
# libxml2 compares each attribute of an element with all others before it.
_MANY_ATTRIBUTES = re.compile(rb"<[^<>=\s]+(?:\s+[^<>=\s\"']+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*')){1000}")
# Podcast feeds spell the namespaces with capitals, http or https, and with or without a slash.
_PREFIXES = {re.sub(r"^https?://|[/#]+$", "", uri.lower()): prefix for prefix, uri in NAMESPACES.items()} | {
    "search.yahoo.com/mrss": "media",
    "github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md".lower(): "podcast",
    "opengis.net/gml": "gml",
    "www.opengis.net/gml": "gml",
    "purl.org/atom/ns": "atom",
    "purl.org/dc/elements/1.0": "dc",
    "purl.org/rss/1.0": "",
    "my.netscape.com/rdf/simple/0.9": "",
    "channel.netscape.com/rdf/simple/0.9": "",
    "rssnamespace.org/feedburner/ext/1.0": "feedburner",
}
_RSS_VERSIONS = {"0.90", "0.91", "0.92", "0.93", "0.94", "1.0", "2.0"}
_ENTITY_VALUE = 20
_KINDS: dict[str, Kind] = {
    "text": "text",
    "text/plain": "text",
    "html": "html",
    "text/html": "html",
    "xhtml": "html",
}
_PAGES = {"", "text", "html", "xhtml", "text/html", "application/xhtml+xml", "text/plain"}

_DETAILS = frozenset(
    {
        "media:thumbnail", "media:content", "itunes:image", "image", "itunes:duration", "itunes:episode",
        "itunes:season", "itunes:episodetype", "itunes:explicit", "podcast:episode", "podcast:season",
        "podcast:transcript", "podcast:chapters", "comments", "slash:comments", "thr:total",
        "wfw:commentrss", "source", "dc:source", "contributor", "dc:contributor", "rights",
        "dc:rights", "copyright", "media:copyright", "georss:point", "georss:where", "geo:lat", "geo:point",
    }
)  # fmt: skip

_ADDRESSES = frozenset({"href", "src", "poster"})

Fields = dict[str, list[etree._Element]]


def parse_xml(data: bytes, url: str, limits: Limits) -> etree._Element:
    """Return the tree of a well-formed UTF-8 document. Raises etree.XMLSyntaxError, ReadingError."""
    if data.count(b"=") > 10 * limits.feed_attributes and _MANY_ATTRIBUTES.search(data):
        raise ReadingError("too-large", f"an element with more than {limits.feed_attributes} attributes")
    try:
        if data.count(b"<") > limits.feed_elements:
            # Counted by a target first, which builds no tree of them.
            etree.fromstring(
                data,
                _parser(target=ElementCounter(limits.feed_elements, limits.feed_attributes)),
                base_url=url,
            )
        return etree.fromstring(data, _parser(), base_url=url)
    except etree.XMLSyntaxError as error:
        if getattr(error, "code", 0) != _RESOURCE_LIMIT:
            raise
        if "depth" in str(error):
            raise ReadingError("too-deep", f"nested more than {_DEPTH} levels deep") from error
        raise ReadingError("too-large", str(error).split(", ")[0]) from error


def read_xml(root: etree._Element, url: str, limits: Limits) -> RawFeed | None:
    """Return the fields of the tree of a feed at `url`, None when its root is none."""
    reader = _Reader(root, url, limits)
    kind = reader.format()
    return reader.feed(kind) if kind else None


def _parser(**options: Any) -> etree.XMLParser:
    """Create libxml2's parser, with the strictest options and no access to files or network."""
    return etree.XMLParser(
        # The bytes are UTF-8 by now, whatever the declaration says (spaRSS 207: a header says GBK).
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        huge_tree=False, recover=False, remove_comments=True, remove_pis=True, **options,
    )  # fmt: skip


class _Reader:
    """A reader of one document, with its tag names, xml:base and entities."""

    def __init__(self, root: etree._Element, url: str, limits: Limits) -> None:
        self._root = root
        self._url = url
        self._limits = limits
        self._own = str(root.tag).rpartition("}")[0].lstrip("{")
        self._keys: dict[str, str] = {}
        self._language = _short(root.get(_LANG))
        # Without any xml:base, which is most feeds, nobody needs to look for one.
        self._based = next(root.iterfind(f".//*[@{BASE}]"), None) is not None or BASE in root.attrib
        self._bases = Bases(url)
        # RSS has a mail address for the author, and Dublin Core the name.
        names = ("author", "dc:creator", "dc:author", "itunes:author")
        is_atom = _prefix(self._own) == "atom"
        self._authors = names if is_atom else ("dc:creator", "author", "dc:author", "itunes:author")

    def format(self) -> str:
        """Return `rss2.0`, `atom1.0` and so on, "" for other documents."""
        name = str(self._root.tag).rpartition("}")[2].lower()
        if name == "feed":
            return "atom0.3" if "purl.org/atom/ns" in self._own else "atom1.0"
        if name == "entry" and _prefix(self._own) == "atom":
            return "atom0.3" if "purl.org/atom/ns" in self._own else "atom1.0"
        # Linked data is RDF as well; without items of RSS it is no feed.
        if name == "rdf" and (self._channel() is not None or self._has_items()):
            netscape = any("netscape.com" in str(e.tag) for e in self._root)
            return "rss0.90" if netscape else "rss1.0"
        if name in ("rss", "channel"):
            version = (self._root.get("version") or "").strip()
            return "rss" + (version if version in _RSS_VERSIONS else "2.0")
        return ""

    def feed(self, kind: str) -> RawFeed:
        """Read the feed's own fields and its entries."""
        channel = self._channel()
        if channel is None:
            channel = self._root
        fields = self._fields(channel)
        if self._key(str(channel.tag)) == "entry":  # one that stands alone may name the feed it is from
            fields = self._fields(fields["source"][0]) if "source" in fields else {}
        title, title_kind = self._title(fields, "title", "dc:title")
        return RawFeed(
            format=kind,
            title=title,
            title_kind=title_kind,
            description=self._title(
                fields, "description", "subtitle", "tagline", "itunes:summary", "itunes:subtitle"
            )[0],
            author=self._people(fields, "author", "managingeditor", "dc:creator", "itunes:author"),
            language=self._lang(channel) or self._first(fields, "language", "dc:language"),
            base=self._base(channel),
            icon=self._first(fields, "icon") or self._attribute(fields, "webfeeds:icon", "url"),
            image=self._channel_image(fields),
            ttl=self._first(fields, "ttl"),
            update_period=self._first(fields, "sy:updateperiod"),
            update_frequency=self._first(fields, "sy:updatefrequency"),
            links=list(self._links(fields)),
            skip_hours=self._listed(fields, "skiphours"),
            skip_days=self._listed(fields, "skipdays"),
            entries=[self._entry(e) for e in self._items()],
        )

    def _channel(self) -> etree._Element | None:
        """Return the channel element; Atom's feed is its own."""
        if str(self._root.tag).rpartition("}")[2].lower() in ("feed", "channel"):
            return self._root
        return next((e for e in self._root if str(e.tag).rpartition("}")[2].lower() == "channel"), None)

    def _has_items(self) -> bool:
        """Return whether RDF has items of RSS, which some write without a channel."""
        return any(self._key(str(e.tag)) == "item" and _prefix(_space(e)) == "" for e in self._root)

    def _items(self) -> Iterator[etree._Element]:
        """Yield items and entries in document order, wherever they are (RSS 1.0 has them outside the
        channel).
        """
        # Ten times the limit: the newest of too many are chosen later, by date.
        count = 0
        for element in self._root.iter("{*}item", "{*}entry", "{*}Item", "{*}Entry"):
            parent = element.getparent()
            # An item inside an item is a part of it and no article.
            nested = parent is not None and self._key(str(parent.tag)) in ("item", "entry")
            if nested or self._key(str(element.tag)) not in ("item", "entry"):
                continue
            yield element
            count += 1
            if count == 10 * self._limits.entries:
                return

    def _entry(self, item: etree._Element) -> RawEntry:
        """Read one item's fields."""
        fields = self._fields(item)
        guid = self._named(fields, "guid", "id")
        identity = self._text(guid) if guid is not None else ""
        about = next((v for k, v in item.attrib.items() if str(k).endswith("}about")), "")
        # RSS 2.0: a guid is a permalink unless it says otherwise.
        declared = "" if guid is None else (guid.get("isPermaLink") or "").strip().lower()
        title, title_kind = self._title(fields, "title", "dc:title", "media:title")
        return RawEntry(
            identity=identity or str(about).strip(),
            permalink=declared != "false",
            path=guid in fields.get("guid", ()) and (declared == "true" or _is_path(identity)),
            links=[*self._links(fields), *self._media(fields), *self._elsewhere(fields)],
            title=title,
            title_kind=title_kind,
            author=self._people(fields, *self._authors),
            # Dublin Core does not say which time dc:date is; as `updated` it still dates RSS without a
            # pubDate.
            published=self._first(fields, "pubdate", "published", "issued", "dcterms:issued"),
            updated=self._first(fields, "updated", "modified", "dcterms:modified", "dc:date"),
            summary=self._markup(
                fields, "description", "summary", "dc:description", "itunes:summary", "media:description"
            ),
            content=self._markup(
                fields, "content:encoded", "content", "xhtml:body", "xhtml:div", "body", "fullitem"
            ),
            language=_own_language(item, fields) or self._first(fields, "dc:language") or self._language,
            categories=self._categories(fields),
            base=self._base(item),
            original_link=self._first(fields, "feedburner:origlink"),
            details=self._details(fields) if _has_details(fields) else None,
        )

    def _key(self, tag: str) -> str:
        """Return `title` for the format's own elements (and Atom's), `dc:creator` for others, else ""."""
        key = self._keys.get(tag)
        if key is None:
            space, _, name = tag.rpartition("}")
            space = space.lstrip("{")
            prefix = "" if space in ("", self._own) else _prefix(space)
            prefix = "" if prefix == "atom" else prefix
            key = self._keys[tag] = "" if prefix is None else f"{prefix}:{name.lower()}".lstrip(":")
        return key

    def _fields(self, parent: etree._Element) -> Fields:
        """Return children by key; those of media:group count as the entry's own."""
        fields: Fields = {}
        for child in parent:
            if not isinstance(child.tag, str):
                continue
            key = self._key(child.tag)
            if key == "media:group":
                for inner in child:
                    if isinstance(inner.tag, str):
                        fields.setdefault(self._key(inner.tag), []).append(inner)
            elif key:
                fields.setdefault(key, []).append(child)
        return fields

    def _named(self, fields: Fields, *keys: str) -> etree._Element | None:
        """Return the first element under these keys that has text."""
        for key in keys:
            for element in fields.get(key, ()):
                if self._text(element):
                    return element
        return None

    def _first(self, fields: Fields, *keys: str) -> str:
        """Return the first text under these keys."""
        for key in keys:
            for element in fields.get(key, ()):
                if text := self._text(element):
                    return text
        return ""

    def _title(self, fields: Fields, *keys: str) -> tuple[str, Kind]:
        """Return the first text under these keys, and what its feed calls it."""
        element = self._named(fields, *keys)
        if element is None:
            return "", ""
        kind = _KINDS.get((element.get("type") or "").strip().lower(), "")
        text = self._text(element)
        if _is_packed(element):
            text = from_base64(text, certain=True) or text
        return text, "html" if len(element) else kind

    def _text(self, element: etree._Element) -> str:
        """Return an element's text, with markup inside it written out."""
        if len(element) == 0:
            return (element.text or "").strip()
        if self._based:
            self._resolve(element)
        # Markup that was not escaped (elfeed 411) is part of the text, with its tags.
        pieces = [element.text or ""]
        for child in element:
            if isinstance(child, etree._Entity):
                pieces += [self._entity(child), child.tail or ""]
            else:
                pieces.append(etree.tostring(_without_namespaces(child), encoding="unicode", method="html"))
        return "".join(pieces).strip()

    def _resolve(self, element: etree._Element) -> None:
        """Make addresses within a field absolute if a part of it has an xml:base of its own.

        They may grow by no more than what all addresses of an entry may.
        """
        parts = list(element.iter("{*}*"))
        if not any(BASE in part.attrib for part in parts):
            return
        room = self._limits.room // 10
        for part in parts:
            for name in _ADDRESSES.intersection(map(str, part.attrib)):
                base, reference = self._bases.of(part), str(part.get(name))
                room -= len(base)
                if room < 0:
                    return
                part.set(name, absolute(base, reference) or reference)

    def _entity(self, reference: etree._Entity) -> str:
        """Return an entity of HTML, or one of the document's own when it is short and names no other."""
        text = html.unescape(reference.text or "")
        # Declared entities are the other half of "entities in entities" (billion laughs), so only short plain
        # ones count.
        if not text.startswith("&") or text == "&":
            return text
        dtd = self._root.getroottree().docinfo.internalDTD
        declared: Any = dtd.entities() if dtd is not None else ()  # type: ignore[attr-defined]
        value = next((str(e.content) for e in declared if e.name == reference.name and e.content), "")
        return value if len(value) <= _ENTITY_VALUE and "&" not in value else ""

    def _markup(self, fields: Fields, *keys: str) -> Markup:
        """Return the first of these fields as HTML."""
        for key in keys:
            for element in fields.get(key, ()):
                if value := self._markup_text(element):
                    kind = (element.get("type") or "").lower()
                    literal = kind in ("text", "text/plain") or key in ("itunes:summary", "media:description")
                    return Markup(value, literal, self._base(element))
        return Markup()

    def _markup_text(self, element: etree._Element) -> str:
        """Return HTML of a description or Atom content; "" for content in other media types."""
        kind = (element.get("type") or "").strip().lower()
        packed = _is_packed(element)
        if packed or kind.startswith("text/"):
            text = self._text(element)
            unpacked = from_base64(text, certain=packed)
            return text if unpacked is None else unpacked
        # A picture as content is no text to read.
        if "/" in kind and not kind.endswith("xml"):  # Atom packs other media types (RFC 4287, 4.1.3.3)
            is_file = not kind.startswith("application/")
            return "" if is_file else from_base64(self._text(element), certain=False) or ""
        if kind == "xhtml" and len(element) == 1 and str(element[0].tag).endswith("}div"):
            element = element[0]
        return self._text(element)

    def _links(self, fields: Fields) -> Iterator[RawLink]:
        """Yield links and enclosures. RSS writes the address as text, Atom as an attribute."""
        for e in fields.get("link", ()):
            href = e.get("href") or self._text(e)
            if href:
                yield RawLink(
                    str(href),
                    (e.get("rel") or "alternate").lower(),
                    e.get("type") or "",
                    e.get("length") or "",
                )
        files = fields.get("enclosure", ())
        # FeedBurner's enclosure leads over a counter; the original is named once for an item.
        counted = self._first(fields, "feedburner:origenclosurelink") if len(files) == 1 else ""
        for e in files:
            if address := counted or e.get("url") or e.get("href"):
                yield RawLink(str(address), "enclosure", e.get("type") or "", e.get("length") or "")

    def _media(self, fields: Fields) -> Iterator[RawLink]:
        """Yield Media RSS content, which serves as an enclosure."""
        for e in fields.get("media:content", ()):
            # YouTube's feeds name a Flash player as the film.
            if (address := e.get("url")) and e.get("type") != _FLASH:
                # A description of a file stands in the media element, not in the item.
                inner = self._fields(e) if len(e) else {}
                yield RawLink(
                    str(address), "enclosure", e.get("type") or "", e.get("fileSize") or "",
                    medium=e.get("medium") or "",
                    title=self._first(inner, "media:description", "media:title"),
                    duration=e.get("duration") or "",
                    width=e.get("width") or "", height=e.get("height") or "",
                )  # fmt: skip

    def _details(self, fields: Fields) -> RawDetails:
        """Read what an item says beside its text."""
        source = self._source(fields)
        return RawDetails(
            images=list(self._images(fields)),
            duration=self._first(fields, "itunes:duration"),
            episode=self._first(fields, "itunes:episode", "podcast:episode"),
            season=self._first(fields, "itunes:season", "podcast:season"),
            episode_type=self._first(fields, "itunes:episodetype"),
            explicit=self._first(fields, "itunes:explicit"),
            transcripts=self._files(fields, "podcast:transcript"),
            chapters=self._files(fields, "podcast:chapters"),
            comments=self._first(fields, "comments"),
            comment_count=self._first(fields, "slash:comments", "thr:total") or _replies(fields),
            comments_feed=self._first(fields, "wfw:commentrss"),
            source_title=source[0],
            source_url=source[1],
            contributors=[
                self._person(e)
                for key in ("contributor", "dc:contributor")
                for e in islice(fields.get(key, ()), 20)
            ],
            terms=[
                (
                    e.get("term") or self._text(e),
                    e.get("scheme") or e.get("domain") or "",
                    e.get("label") or "",
                )
                for e in islice(fields.get("category", ()), 50)
            ],
            rights=self._first(fields, "rights", "dc:rights", "copyright", "media:copyright"),
            point=self._point(fields),
        )

    def _images(self, fields: Fields) -> Iterator[RawLink]:
        """Yield pictures that stand for an item: thumbnails, of its media too, and an episode's cover."""
        thumbnails = list(fields.get("media:thumbnail", ()))
        for e in islice(fields.get("media:content", ()), 20):
            if len(e):
                thumbnails += self._fields(e).get("media:thumbnail", ())
        # Some thumbnails write their address as text.
        for e in islice(thumbnails, 20):
            if address := e.get("url") or self._text(e):
                yield RawLink(str(address), width=e.get("width") or "", height=e.get("height") or "")
        # RSS has an image for the channel alone; many feeds write one into each item as well.
        for key in ("itunes:image", "image"):
            for e in fields.get(key, ())[:1]:
                inner = self._first(self._fields(e), "url") if len(e) else self._text(e)
                if address := e.get("href") or e.get("url") or inner:
                    yield RawLink(str(address))

    def _channel_image(self, fields: Fields) -> str:
        """Return the address of the feed's larger picture: logo, image, cover."""
        if logo := self._first(fields, "logo"):
            return logo
        for e in fields.get("image", ())[:1]:
            if address := self._first(self._fields(e), "url"):
                return address
        outer = next((e for e in self._root if self._key(str(e.tag)) == "image"), None)  # RSS 1.0
        if outer is not None and (address := self._first(self._fields(outer), "url")):
            return address
        return self._attribute(fields, "itunes:image", "href", "url")

    def _attribute(self, fields: Fields, key: str, *names: str) -> str:
        """Return the first of these attributes of the first element under a key, else its text."""
        for e in fields.get(key, ())[:1]:
            return next((value for name in names if (value := e.get(name))), "") or self._text(e)
        return ""

    def _files(self, fields: Fields, key: str) -> list[tuple[str, str, str]]:
        """Return address, type and language of the files under a key."""
        return [
            (e.get("url") or "", e.get("type") or "", e.get("language") or "")
            for e in islice(fields.get(key, ()), 20)
        ]

    def _source(self, fields: Fields) -> tuple[str, str]:
        """Return title and address of the feed that an item was taken from."""
        for e in fields.get("source", ())[:1]:
            inner = self._fields(e) if len(e) else {}
            if not inner:
                return self._text(e), e.get("url") or ""
            links = {link.rel: link.href for link in self._links(inner)}
            return self._first(inner, "title"), links.get("self") or links.get("alternate", "")
        source_name = self._first(fields, "dc:source")
        return ("", source_name) if source_name.startswith(("http://", "https://")) else (source_name, "")

    def _point(self, fields: Fields) -> tuple[str, str]:
        """Return latitude and longitude as written by GeoRSS, its GML, or W3C's geo."""
        text = self._first(fields, "georss:point")
        for e in fields.get("georss:where", ())[:1]:
            text = text or "".join(islice((str(piece) for piece in e.itertext()), 20)).strip()
        if not text:
            for e in fields.get("geo:point", ())[:1]:
                fields = self._fields(e)
            return self._first(fields, "geo:lat"), self._first(fields, "geo:long")
        parts = text.replace(",", " ").split()
        return (parts[0], parts[1]) if len(parts) == 2 else ("", "")

    def _person(self, element: etree._Element) -> str:
        """Return the name of a person, else the mail address."""
        inner = self._fields(element) if len(element) else {}
        return self._first(inner, "name", "email") if inner else self._text(element)

    def _elsewhere(self, fields: Fields) -> Iterator[RawLink]:
        """Yield Atom content that stands elsewhere: a page to read, or a file."""
        for e in fields.get("content", ())[:1]:
            if address := e.get("src"):
                kind = (e.get("type") or "").strip().lower()
                yield RawLink(str(address), "alternate" if kind in _PAGES else "enclosure", kind)

    def _people(self, fields: Fields, *keys: str) -> str:
        """Return the names of persons under the first of these keys that has any, joined by commas."""
        for key in keys:
            names = [self._person(element) for element in fields.get(key, ())]
            if any(names):
                return ", ".join(dict.fromkeys(n for n in names if n))
        return ""

    def _categories(self, fields: Fields) -> list[str]:
        """Return categories of any format."""
        keys = ("category", "dc:subject", "media:category", "itunes:category")
        elements = [e for key in keys for e in fields.get(key, ())]
        elements += [e for outer in fields.get("itunes:category", ()) for e in islice(outer, 20)]
        return [
            str(e.get("label") or e.get("term") or e.get("text") or self._text(e)) for e in elements[:200]
        ]

    def _listed(self, fields: Fields, key: str) -> list[str]:
        """Return texts of the elements in a list (skipHours, skipDays)."""
        return [
            self._text(e)
            for outer in fields.get(key, ())[:1]
            for e in islice(outer, 24)
            if isinstance(e.tag, str)
        ]

    def _base(self, element: etree._Element) -> str:
        """Return the base that xml:base gives an element, "" when the document has none anywhere."""
        return self._bases.of(element) if self._based else ""

    def _lang(self, element: etree._Element) -> str:
        """Return the xml:lang that an element carries or, for the channel, its root does."""
        return _short(element.get(_LANG)) or self._language


def _has_details(fields: Fields) -> bool:
    """Return whether an item has elements beside its text, or categories with more than a name."""
    return (
        not _DETAILS.isdisjoint(fields)
        or bool(_replies(fields))
        or any(
            category.get("domain") or category.get("scheme") or category.get("label")
            for category in fields.get("category", ())
        )
    )


def _replies(fields: Fields) -> str:
    """Return the number of comments that a link to them states (RFC 4685, section 4)."""
    links = (e for e in fields.get("link", ()) if (e.get("rel") or "").lower() == "replies")
    return next((count for e in links if (count := e.get(_REPLIES))), "")


def _own_language(item: etree._Element, fields: Fields) -> str:
    """Return the xml:lang of an item, else that of its text."""
    texts = (e for key in ("content", "summary") for e in fields.get(key, ()))
    return next((_short(e.get(_LANG)) for e in (item, *texts) if e.get(_LANG)), "")


def _space(element: etree._Element) -> str:
    """Return the namespace of an element."""
    return str(element.tag).rpartition("}")[0].lstrip("{")


def _is_packed(element: etree._Element) -> bool:
    """Return whether an element says that its text is base64."""
    return "base64" in ((element.get("mode") or "").lower(), (element.get("encoding") or "").lower())


def _is_path(identity: str) -> bool:
    """Return whether a guid reads as a relative address: no other scheme, no number, no words."""
    return (
        "/" in identity and ":" not in identity.partition("/")[0] and not any(c.isspace() for c in identity)
    )


def _short(text: str | None) -> str:
    """Cut a language's name: no real one is longer."""
    return (text or "")[:100]


# Undeclared and unknown ones are None, so that their elements are skipped.
def _prefix(space: str) -> str | None:
    """Return our prefix for a namespace name, whose spelling varies in the field."""
    return _PREFIXES.get(re.sub(r"^https?://|[/#]+$", "", space.strip().lower()))


def _without_namespaces(element: etree._Element) -> etree._Element:
    """Rename the markup inside a field to plain tag names, so that it can be written as HTML."""
    for e in element.iter("{*}*"):
        if isinstance(e.tag, str) and "}" in e.tag:
            e.tag = e.tag.rpartition("}")[2]
    return element
