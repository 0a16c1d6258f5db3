"""HTML of newsletters as HTML for reading: without trackers and hidden parts, layout tables as blocks.

The tree is walked twice, element by element: once to know which tables are layout and what is hidden, once
to write what is read. The result goes through the sanitiser of feeds. Nothing calls itself, and nothing is
fetched.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from html import escape, unescape

from lxml import etree, html

from crawler.reading.addresses import absolute
from crawler.reading.feeds.markup import Sanitiser, plain_text, shown
from crawler.reading.mail.links import MailLink, is_unsubscribing
from crawler.reading.mail.trackers import is_tracker_host, unwrap
from crawler.reading.pages.tree import whole_tree
from crawler.text.characters import storable

MAX_ELEMENTS = 60_000
MAX_DEPTH = 80
"""Levels of elements that are written; deeper blocks are written without their tags."""
MAX_LINKS = 5_000
_MAX_STYLES = 100_000
_SKIPPED = frozenset({
    "script", "style", "head", "title", "template", "noscript", "form", "object", "embed", "applet", "iframe",
    "svg", "math", "select", "textarea", "button", "input", "map", "audio", "video", "link", "meta",
})  # fmt: skip
_OPENED = frozenset({"form", "button", "map"})
"""Skipped elements whose content may be text of the message: Outlook's forms, Gmail's buttons."""
_BLOCKS = frozenset({"div", "center", "section", "article", "header", "footer", "main", "nav", "aside",
                     "address", "fieldset", "body"})  # fmt: skip
_RETAINED = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "big", "blockquote", "br", "caption", "cite", "code", "dd", "del", "dfn",
    "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins",
    "kbd", "li", "mark", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp", "small", "strike", "strong",
    "sub", "sup",
    "time", "tt", "u", "ul", "var", "wbr",
})  # fmt: skip
_TABLE = frozenset({"table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption", "col", "colgroup"})
_VOID = frozenset({"br", "hr", "img", "wbr", "col"})
_ATTRIBUTES = (
    "title",
    "alt",
    "dir",
    "lang",
    "colspan",
    "rowspan",
    "start",
    "type",
    "datetime",
    "width",
    "height",
)
_HIDDEN = re.compile(
    r"display:none|visibility:hidden|mso-hide:all|max-height:0(?:px)?(?:;|!|$)|font-size:0(?:px|pt|em)?(?:;|!|$)"
    r"|(?:^|;)opacity:0(?:\.0+)?(?:;|!|$)"
)
_PREHEADER = re.compile(
    r"(?:^|[\s_-])(?:pre-?header|preview-?text|mcnPreviewText|preheadertext)(?:$|[\s_-])", re.IGNORECASE
)
_RULE = re.compile(r"([^{}@;]{1,300})\{([^{}]{0,2000})\}")
_CLASS_OR_ID = re.compile(r"\s*[a-z]*[.#]([\w-]{1,100})\s*")
_INVISIBLE = dict.fromkeys((0xAD, 0x34F, 0x61C, 0x180E, 0x2060, 0x2007, 0xFEFF, *range(0x200B, 0x2010)))
_OPENS = re.compile(
    r"/(?:open|opens|track|tracking|trk|pixel|pixels|beacon|px|imp|o|oo|e/o|e2o|q)(?:/|\.|\?|$)|/wf/open|open\.(?:php|gif|aspx)"
    r"|/ut\.php|[?&/](?:pixel|beacon|trackopen|open_?track\w*)|spacer\.gif|blank\.gif|clear\.gif|/px\.png|1x1\.(?:gif|png)",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(r"<!\[\s*(?:if[^\]>]{0,200}|endif)\s*\]>", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")
_PARSED_DEPTH = 250
"""Levels of a tree from which on libxml2 may have dropped deeper ones: it reads 256."""
_LAST_LINKS = 50
_NOT_WRITTEN = -2
_MAX_FOOTER = 300
_CID = re.compile(r'src="https://cid\.invalid/(\d{1,4})"')


@dataclass(slots=True)
class Cleaned:
    """A message's HTML as it is read, with what was found on the way."""

    html: str = ""
    text: str = ""
    preheader: str = ""
    language: str = ""
    links: list[MailLink] = field(default_factory=list)
    opaque_links: int = 0
    pictures: int = 0


def clean(markup: str, pictures: Mapping[str, str], subscribers: Collection[str] = ()) -> Cleaned:
    """Return the readable HTML of a newsletter.

    `pictures` are `data:` addresses by Content-ID, without those that are too large: a picture that is not
    among them becomes its alternative text. Raises ReadingError(too-large) for more than MAX_ELEMENTS.
    """
    root = whole_tree(_CONDITIONAL.sub("", storable(markup)), MAX_ELEMENTS)
    if root is None or _depth(root) >= _PARSED_DEPTH:
        return _only_words(markup)
    writer = _Writer(root, pictures, subscribers)
    writer.write()
    safe = Sanitiser().clean("".join(writer.pieces), "")
    cleaned = writer.cleaned
    cleaned.text = plain_text(safe)
    used: list[str] = []
    cleaned.html = _CID.sub(lambda match: _placed(match, writer.placed, used), safe)
    cleaned.pictures = len(used)
    return cleaned


def visible(text: str) -> str:
    """Return a text on one line without the invisible signs by which preheaders are filled up."""
    return " ".join(text.translate(_INVISIBLE).split())


def _only_words(markup: str) -> Cleaned:
    """Return the words of HTML that is nested too deeply to be parsed."""
    text = unescape(_ANY_TAG.sub("\n", shown(storable(markup))))
    lines = [line for line in map(visible, text.split("\n")) if line]
    return Cleaned("".join(f"<p>{escape(line, quote=False)}</p>" for line in lines), "\n".join(lines))


def _placed(match: re.Match[str], placed: list[str], used: list[str]) -> str:
    number = int(match[1])
    if number >= len(placed):
        return 'src=""'
    used.append(placed[number])
    return f'src="{placed[number]}"'


class _Writer:
    """A walk over one tree that writes what is read."""

    def __init__(
        self, root: html.HtmlElement, pictures: Mapping[str, str], subscribers: Collection[str]
    ) -> None:
        self.pieces: list[str] = []
        self.placed: list[str] = []
        self.cleaned = Cleaned(language=(root.get("lang") or "")[:50])
        self._root = root
        self._pictures = pictures
        self._subscribers = subscribers
        self._hidden_names = _hidden_names(root)
        self._lengths = _lengths(root)
        self._data_tables = _data_tables(root)
        self._footer = self._last_footer()
        self._open: list[tuple[str, int]] = []
        self._links: list[tuple[str, str, list[str]]] = []
        self._tables: list[bool] = []

    def write(self) -> None:
        """Write the tree. Hidden elements give the preheader instead, scripts and forms nothing."""
        walk = etree.iterwalk(self._root, events=("start", "end"))
        for event, element in walk:
            if event == "start":
                if self._is_skipped(element):
                    walk.skip_subtree()
                    self._open.append(("", _NOT_WRITTEN))
                    continue
                self._start(element)
            else:
                self._end(element)
        self.cleaned.preheader = visible(self.cleaned.preheader)

    def _is_skipped(self, element: html.HtmlElement) -> bool:
        tag = element.tag
        if not isinstance(tag, str) or (tag in _SKIPPED and tag not in _OPENED) or element is self._footer:
            return True
        if tag in ("html", "body") or not self._is_hidden(element):
            return False
        if (
            self._lengths.get(element, 0) * 2 > self._lengths.get(self._root, 0)
            and self._lengths[element] > 500
        ):
            return False  # what holds most of the words is shown by some rule that is not read here
        if not self.cleaned.preheader and tag != "img":
            self.cleaned.preheader = visible("".join(element.itertext("*"))[:2_000])[:400]
        return True

    def _is_hidden(self, element: html.HtmlElement) -> bool:
        style = element.get("style")
        if style and _HIDDEN.search("".join(style[:1_000].lower().split())):
            return True
        if element.get("hidden") is not None and element.tag != "img":
            return True
        names = f"{element.get('class') or ''} {element.get('id') or ''}".strip()[:500]
        if not names:
            return False
        return any(name in self._hidden_names for name in names.split()) or (
            bool(_PREHEADER.search(names))
            and self._lengths.get(element, 0) < 400
            and next(element.iter("a"), None) is None
            and bool(
                style and re.search(r"overflow:\s*hidden|color:\s*transparent|line-height:\s*[01]p", style)
            )
        )

    def _start(self, element: html.HtmlElement) -> None:
        tag = str(element.tag)
        if tag == "table":
            self._tables.append(element in self._data_tables)
        written = self._name(element, tag)
        if tag == "img":
            self._picture(element)
            self._open.append(("", -1))
            return
        if (
            written
            and tag not in _VOID
            and len([1 for name, _ in self._open[-MAX_DEPTH:] if name]) >= MAX_DEPTH
        ):
            written = ""
        opened = -1
        if written:
            opened = len(self.pieces)
            self.pieces.append(self._tag(element, written))
        self._open.append((written if written not in _VOID else "", opened))
        self._say(element.text)

    def _end(self, element: html.HtmlElement) -> None:
        written, opened = self._open.pop()
        if element.tag == "table" and opened != _NOT_WRITTEN:
            self._tables.pop()
        if written == "a":
            self._close_link()
        if written:
            body = self.pieces[opened + 1 :] if len(self.pieces) - opened <= 4 else ["."]
            if written in ("div", "a", "p") and not any(piece.strip() for piece in body):
                del self.pieces[opened:]
                self.pieces.append(" ")
            else:
                self.pieces.append(f"</{written}>")
        elif (
            opened == -1
            and element.tag in ("tr", "table")
            and self.pieces
            and element.tail
            and element.tail.strip()
        ):
            self.pieces.append("<br>")
        if element is not self._root:
            self._say(element.tail)

    def _say(self, text: str | None) -> None:
        if not text:
            return
        self.pieces.append(escape(text, quote=False))
        for _, _, words in self._links[-1:]:
            words.append(text[:500])

    def _name(self, element: html.HtmlElement, tag: str) -> str:
        """Return the name under which an element is written, "" if only its content is."""
        if tag in _TABLE:
            if self._tables and self._tables[-1]:
                return tag
            return "div" if tag in ("td", "th", "caption") and not _is_wrapped(element) else ""
        if tag in _BLOCKS:
            return "div" if tag != "body" and not _is_wrapped(element) else ""
        if tag == "a" and (self._links or not element.get("href")):
            return ""
        return tag if tag in _RETAINED else ""

    def _tag(self, element: html.HtmlElement, written: str) -> str:
        attributes = "".join(
            f' {name}="{escape(value[:1_000])}"'
            for name in _ATTRIBUTES
            if (value := element.get(name))
            and name not in ("width", "height")
            and (name != "type" or written == "ol")
        )
        if written == "a":
            attributes += f' href="{escape(self._open_link(element))}"'
        return f"<{written}{attributes}>"

    def _open_link(self, element: html.HtmlElement) -> str:
        raw = "".join((element.get("href") or "").split())
        target = raw
        if absolute("", raw):
            target, is_opaque = unwrap(raw, self._subscribers)
            self.cleaned.opaque_links += is_opaque
        self._links.append((raw, target, []))
        return target

    def _close_link(self) -> None:
        raw, target, words = self._links.pop()
        if len(self.cleaned.links) < MAX_LINKS and absolute("", raw):
            self.cleaned.links.append(MailLink(raw, target, visible("".join(words))[:300]))

    def _picture(self, element: html.HtmlElement) -> None:
        source = "".join((element.get("src") or "")[:600_000].split())
        alternative = (element.get("alt") or "").strip()[:1_000]
        for _, _, words in self._links[-1:]:
            words.append(f" {alternative} ")
        if source.lower().startswith(("cid:", "data:")):
            data = (
                self._pictures.get(source[4:].strip("<>").lower(), "") if source[:4].lower() == "cid:" else ""
            )
            if not data:
                self._say(alternative)
                return
            source = f"https://cid.invalid/{len(self.placed)}"
            self.placed.append(data)
        elif not absolute("", source) or is_pixel(element, source):
            return
        size = "".join(
            f' {name}="{value}"' for name in ("width", "height")
            if (value := (element.get(name) or "").removesuffix("px")).isdecimal() and len(value) <= 5
        )  # fmt: skip
        self.pieces.append(f'<img src="{escape(source)}" alt="{escape(alternative)}"{size}>')

    def _last_footer(self) -> html.HtmlElement | None:
        """Return the last block if it has nothing but the link that ends the subscription and a few words.

        Only a block behind which no word follows is surely one; any other stays.
        """
        total = self._lengths.get(self._root, 0)
        link = next(
            (a for a in list(self._root.iter("a"))[:-_LAST_LINKS:-1] if is_unsubscribing(_words(a))), None
        )
        if link is None:
            return None
        block = next((up for up in link.iterancestors("td", "div", "p", "center")), None)
        if block is None or self._lengths.get(block, 0) > _MAX_FOOTER or self._lengths[block] * 2 > total:
            return None
        up = block
        while up is not None and up is not self._root:
            later = [sibling for sibling in up.itersiblings() if isinstance(sibling.tag, str)][:200]
            is_said = bool((up.tail or "").strip()) or any(self._lengths.get(element, 0) for element in later)
            if is_said:
                return None
            up = up.getparent()
        return block


def is_pixel(element: html.HtmlElement, source: str) -> bool:
    """Return whether a picture only counts readers: tiny, or of unknown size at an address for that."""
    style = "".join((element.get("style") or "")[:1_000].lower().split())
    sizes = [(element.get("width") or "").strip().lower(), (element.get("height") or "").strip().lower()]
    sizes += re.findall(r"(?:^|;)(?:max-)?(?:width|height):([^;!]{1,20})", style)
    pixels = [
        float(match[1]) for size in sizes if (match := re.fullmatch(r"(\d{1,5}(?:\.\d+)?)(?:px)?", size))
    ]
    if pixels and min(pixels) <= 2 and max(pixels) <= 10:
        return True
    if min(pixels, default=9) == 0:
        return True
    if pixels and max(pixels) > 10:
        return False
    host_and_path = source.partition("://")[2]
    host, _, path = host_and_path.partition("/")
    is_sized = any(sizes)
    if is_sized:
        return False
    return bool(_OPENS.search("/" + path[:2_000])) or (
        is_tracker_host(host.lower())
        and not re.search(r"\.(?:png|jpe?g|webp|svg|avif)(?:$|[?#])", path, re.IGNORECASE)
    )


def _is_wrapped(element: html.HtmlElement) -> bool:
    """Return whether a block is all that the block around it has, so that one of the two is enough."""
    inner = element
    for _ in range(5):
        parent = inner.getparent()
        if parent is None or inner.getnext() is not None or inner.getprevious() is not None:
            return False
        if (parent.text or "").strip() or (inner.tail or "").strip():
            return False
        if parent.tag in _BLOCKS or parent.tag in ("td", "th"):
            return parent.tag != "body" and not (element.get("dir") or element.get("lang"))
        if parent.tag not in _TABLE:
            return False
        inner = parent
    return False


def _depth(root: html.HtmlElement) -> int:
    depth = deepest = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
    return deepest


def _words(element: html.HtmlElement) -> str:
    return visible("".join(element.itertext())[:500])


def _lengths(root: html.HtmlElement) -> dict[html.HtmlElement, int]:
    """Return the characters of text within each element, without scripts and styles."""
    lengths: dict[html.HtmlElement, int] = {}
    stack: list[int] = []
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            is_read = isinstance(element.tag, str) and element.tag not in ("script", "style", "head", "title")
            stack.append(len((element.text or "").strip()) if is_read else 0)
            if not is_read:
                walk.skip_subtree()
            continue
        length = lengths[element] = stack.pop()
        if stack:
            stack[-1] += length + len((element.tail or "").strip())
    return lengths


def _data_tables(root: html.HtmlElement) -> set[html.HtmlElement]:
    """Return the tables of data: they have headings or a caption, or rows of short cells without pictures."""
    tables: dict[html.HtmlElement, _Shape] = {}
    stack: list[_Shape] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if element.tag == "table":
            if event == "end":
                stack.pop()
                continue
            if stack:
                stack[-1].is_nested = True
            stack.append(
                tables.setdefault(
                    element, _Shape(element.get("role") or "", bool(element.get("border", "0").strip("0px")))
                )
            )
        elif event == "start" and stack:
            stack[-1].see(element)
        elif element.tag in ("td", "th") and stack:
            stack[-1].is_long = stack[-1].is_long or len(element.text or "") > 300
    return {table for table, shape in tables.items() if shape.is_data}


@dataclass(slots=True)
class _Shape:
    """The rows and cells of one table."""

    role: str
    has_border: bool
    rows: list[int] = field(default_factory=list)
    is_nested: bool = False
    has_headings: bool = False
    has_blocks: bool = False
    is_long: bool = False

    def see(self, element: html.HtmlElement) -> None:
        if element.tag == "tr":
            self.rows.append(0)
        elif element.tag in ("td", "th"):
            if self.rows:
                self.rows[-1] += 1
            self.has_headings = self.has_headings or element.tag == "th"
        elif element.tag == "caption":
            self.has_headings = True
        elif element.tag in ("img", "h1", "h2", "h3", "h4", "div", "center"):
            self.has_blocks = True

    @property
    def is_data(self) -> bool:
        if self.is_nested or self.role in ("presentation", "none") or max(self.rows, default=0) < 2:
            return False
        if self.has_headings:
            return True
        is_even = len(self.rows) >= 2 and min(self.rows) == max(self.rows)
        return (
            is_even and not self.has_blocks and not self.is_long and (self.has_border or len(self.rows) >= 3)
        )


def _hidden_names(root: html.HtmlElement) -> frozenset[str]:
    """Return the classes and ids that a style sheet hides, outside of rules for some screens."""
    names: set[str] = set()
    sheets = "".join(style.text or "" for style in root.iter("style"))[:_MAX_STYLES].lower()
    for selectors, body in _RULE.findall(_without_queries(sheets)):
        if "display:none" in "".join(body.split()):
            for selector in selectors.split(","):
                if match := _CLASS_OR_ID.fullmatch(selector):
                    names.add(match[1])
    return frozenset(names)


def _without_queries(sheet: str) -> str:
    """Return a style sheet without its `@media` blocks and comments."""
    sheet = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    pieces: list[str] = []
    position = 0
    while (at := sheet.find("@", position)) >= 0:
        pieces.append(sheet[position:at])
        depth, end = 0, len(sheet)
        for match in re.finditer(r"[{};]", sheet[at:]):
            depth += {"{": 1, "}": -1}.get(match[0], 0)
            if depth <= 0:
                end = at + match.end()
                break
        position = end
    return "".join([*pieces, sheet[position:]])
