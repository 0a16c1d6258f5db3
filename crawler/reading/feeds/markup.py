"""HTML of feeds made safe and readable: sanitised, with absolute addresses, and as plain text.

nh3 decides what is safe. It needs seconds for deep nesting and unbalanced formatting (200,000 nested
divs: over 40 s), so everything with many tags goes through libxml2's parser first (`fragment`), which closes
what is open and tells the depth. So does what has lazy images, formulas and elements closed in their own tag.
"""

from __future__ import annotations

import html
import re
from contextvars import ContextVar
from functools import cache

import nh3
from lxml import etree

from crawler.reading.addresses import absolute
from crawler.reading.census import take_census
from crawler.reading.errors import ReadingError
from crawler.reading.feeds.fragment import MATH, MATH_ATTRIBUTES, rebuilt
from crawler.reading.hidden import may_hide
from crawler.reading.limits import LIMITS
from crawler.text.characters import storable

# With fewer tags nothing nests so deep that nh3 needs noticeable time.
_MANY_TAGS = 200
_TAGS = {
    "a", "abbr", "acronym", "article", "aside", "b", "bdi", "bdo", "big", "blockquote", "br",
    "caption", "cite", "code", "col", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt",
    "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd",
    "li", "mark", "ol", "p", "picture", "pre", "q", "rp", "rt", "ruby", "s", "samp", "section",
    "small", "span", "strike", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot",
    "th", "thead", "time", "tr", "tt", "u", "ul", "var", "wbr", "audio", "source", "video",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"dir", "lang"},
    "a": {"href", "title"},
    "abbr": {"title"},
    "audio": {"src", "controls", "preload"},
    "source": {"src", "type"},
    "video": {"src", "poster", "width", "height", "controls", "preload"},
    "img": {"src", "alt", "title", "width", "height"},
    "li": {"value"},
    "ol": {"start", "reversed", "type"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "time": {"datetime"},
}
# Their text is code or a label, which would stand in the article once the tag is gone.
_WITH_CONTENT = {
    "script", "style", "svg", "math", "iframe", "frameset", "object", "embed", "applet", "noscript",
    "noembed", "noframes", "template", "title", "head", "textarea", "select", "xmp", "plaintext",
}  # fmt: skip
_PAGE_TAGS = {"track"}
_PAGE_ATTRIBUTES = {
    "*": {"dir", "lang", "id"},
    "a": {"href", "title", "class"},
    "code": {"class"},
    "pre": {"class"},
    "track": {"src", "kind", "srclang", "label"},
}
_CLASS = re.compile(r"language-[\w+#.-]{1,30}|embed")
_ID = re.compile(r"a-\S{1,200}")
BLOCK = (
    "address article aside blockquote br caption center dd details div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section summary "
    "table tbody td tfoot th thead tr ul"
).replace(" ", "|")
_BLOCKS = frozenset(BLOCK.split("|"))
# Possessive (*+): a tag that never ends would be tried again from each of its attributes.
_TAG = re.compile(r"</?([a-z][a-z0-9]*+)[^>\"]*+(?:\"[^\"]*+\"[^>\"]*+)*+>")
_HIDDEN = re.compile(r"<(!--|script\b|style\b)")
_CLOSING = {"!--": "-->", "script": "</script>", "style": "</style>"}
_ANY_TAG = re.compile(r"<[^<>]*>")
INLINE = (
    "a|abbr|acronym|b|big|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|small|span|strike|strong|sub"
    "|sup|tt|u|wbr"
)
_KNOWN_TAG = re.compile(rf"</?(?:{INLINE}|{BLOCK})(?:\s[^<>]*)?/?>", re.IGNORECASE)
REFERENCE = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});", re.IGNORECASE)
_MAIL_IMAGE = re.compile(r"(?:src|poster)=\"\s*mailto:", re.IGNORECASE)
# HTML knows no <iframe/>: a browser takes all that follows for its content.
_SELF_CLOSED = re.compile(
    r"(<(?:applet|embed|frameset|head|iframe|noembed|noframes|noscript|object|script|select|style|template|textarea"
    r"|title|xmp)(?:\s(?:[^<>\"']|=\s*\"[^\"<]*\"|=\s*'[^'<]*')*)?)/>",
    re.IGNORECASE,
)
_FORMULA = re.compile(r"<math\b(.*?)</math>", re.IGNORECASE | re.DOTALL)
_TAG_NAME = re.compile(r"<([a-z][^\s/>]*)")
_SHAPED = re.compile(
    r"<noscript|<iframe|<video|<audio|srcset=|data-(?:src|lazy|orig|actualsrc|echo)|<(?:mml?:)?math\b"
)
_LONG = 2_000  # characters; in fewer no tag has so many attributes that it matters
_SOUND_TAG = re.compile(
    r"</?[a-z][a-z0-9]*+(?:\s++[a-z][a-z0-9_:-]*+(?:=(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=`]++))?+){0,20}+\s*+/?>",
    re.IGNORECASE,
)


def looks_like_html(text: str) -> bool:
    """Return whether a text that may be plain has tags or character references of HTML in it."""
    return ("<" in text and bool(_KNOWN_TAG.search(text))) or ("&" in text and bool(REFERENCE.search(text)))


def plain_text(fragment: str) -> str:
    """Return the text of sanitised HTML, whose names are in small letters, with a line for each block."""
    text = fragment
    if "<" in text:
        pieces = _TAG.split(text)  # texts, and between them names
        pieces[1::2] = ["\n" if name in _BLOCKS else "" for name in pieces[1::2]]
        text = "".join(pieces)
    if "&" in text:
        text = html.unescape(text)
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return "\n".join([line for line in lines if line])


class Sanitiser:
    """An allow-list for reading, applied to the entries of one document (not to be shared by threads).

    What addresses grow by when they are made absolute is bounded by `room` characters in all entries, and by
    a tenth of it in one. With `pages` it also lets through what `crawler.reading.pages.structure` writes:
    tracks of films, languages of code, ids that begin with `a-` and links to them.
    """

    def __init__(self, room: int = LIMITS.room, *, pages: bool = False) -> None:
        self._base = ""
        self._pages = pages
        self._limit = room // 10
        self._room = room
        self._left = 0

    def clean(self, fragment: str, base: str) -> str:
        """Sanitise HTML: no scripts, styles, forms, frames or SVG; http, https and mailto addresses only.

        Relative addresses are joined with `base`. Markup nested deeper than LIMITS.markup_depth, or
        with more than LIMITS.attributes in one tag, comes back as text.
        """
        fragment = storable(fragment)
        # Most titles and many summaries: no cleaner is needed.
        if "<" not in fragment and "&" not in fragment:
            return fragment.replace(">", "&gt;").strip()
        self._base = base
        self._left = self._limit
        token = _working.set(self)
        try:
            return self._cleaned(fragment)
        finally:
            _working.reset(token)

    def _cleaned(self, fragment: str) -> str:
        formulas, references = False, "&#" in fragment
        if len(fragment) > _LONG and _crowded(fragment):
            fragment = _as_text(fragment)
        else:
            # XHTML in feeds closes elements in their own tag.
            fragment, empty = _SELF_CLOSED.subn(r"\1 />", fragment) if "/>" in fragment else (fragment, 0)
            if empty or fragment.count("<") > _MANY_TAGS or _is_shaped(fragment) or may_hide(fragment):
                tree = rebuilt(fragment, LIMITS.markup_depth)
                formulas = tree is not None and "<math" in tree
                fragment = _as_text(fragment) if tree is None else tree
        safe = str(_cleaner(pages=self._pages, formulas=formulas).clean(fragment)).strip()
        # Cleaned a second time without formulas, because markup that moved between parsers is how sanitisers
        # are fooled.
        if formulas and _is_mixed(safe):
            safe = str(_cleaner(pages=self._pages).clean(safe)).strip()
        if references:  # by number they may stand for anything
            safe = storable(safe)
        # Only then with a filter in Python, which every attribute would have to pass.
        if "mailto:" in safe.lower() and _MAIL_IMAGE.search(safe):
            checked = _cleaner(pages=self._pages, formulas=formulas, images_checked=True)
            safe = str(checked.clean(safe)).strip()
        return safe

    def resolved(self, reference: str) -> str | None:
        """Make a relative address absolute. Returns None, which drops it, on failure or lack of room."""
        if self._pages and reference.startswith("#a-"):
            return reference
        address = absolute(self._base, reference)
        growth = max(len(address) - len(reference), 0)
        # A base of 400,000 characters times thousands of links is more than there is.
        if not address or growth > min(self._left, self._room):
            return None
        self._left -= growth
        self._room -= growth
        return address


_working: ContextVar[Sanitiser] = ContextVar("the sanitiser at work in this thread")


@cache
def _cleaner(*, pages: bool, formulas: bool = False, images_checked: bool = False) -> nh3.Cleaner:
    """Return the cleaner for markup of feeds or pages, made once.

    Python cannot see what a cleaner holds: a sanitiser that had one of its own, which calls it, would
    never be freed. A filter in Python on every attribute costs too much to be there always.
    """
    attribute_filter = _no_mail_image if images_checked else None
    if pages:
        attribute_filter = _page_attribute
    return nh3.Cleaner(
        tags=_TAGS | (MATH if formulas else set()) | (_PAGE_TAGS if pages else set()),
        attributes=_ATTRIBUTES
        | (dict.fromkeys(MATH, MATH_ATTRIBUTES) if formulas else {})
        | (_PAGE_ATTRIBUTES if pages else {}),
        clean_content_tags=_WITH_CONTENT - {"math"} if formulas else _WITH_CONTENT,
        url_schemes={"http", "https", "mailto"},
        # By a context variable: the cached cleaner is shared, the base is each document's own.
        url_relative=lambda reference: _working.get().resolved(reference),
        # Articles of strangers must neither reach the reader's window nor learn where it came from.
        link_rel="noopener noreferrer nofollow",
        attribute_filter=attribute_filter,
        allowed_classes=None if pages else {"a": {"embed"}},
    )


def _is_mixed(clean: str) -> bool:
    """Return whether a formula in clean markup has HTML or another formula in it.

    Two parsers that close broken elements in different places can move an element there.
    """
    return any(
        tag == "math" or tag not in MATH
        for formula in _FORMULA.findall(clean)
        for tag in _TAG_NAME.findall(formula.lower())
    )


def _is_shaped(fragment: str) -> bool:
    """Return whether a fragment has lazy images, formulas or other parts that only a tree shows."""
    lower = fragment.lower()
    has_names = (
        "<noscript" in lower
        or "<iframe" in lower
        or "<video" in lower
        or "<audio" in lower
        or "srcset=" in lower
        or "data-" in lower
        or "math" in lower
    )
    return has_names and bool(_SHAPED.search(lower))


def _crowded(fragment: str) -> bool:
    """Return whether a tag has absurdly many attributes, whose square determines the time of parsers.

    Where every `<` begins a tag that all parsers read alike, and with few attributes, no parser is needed.
    """
    # 50,000 attributes in one tag (table of poisons) take parsers seconds; sound tags need no census.
    if len(_SOUND_TAG.findall(fragment)) == fragment.count("<"):
        return False
    try:
        take_census(fragment.encode("utf-8", "replace"), len(fragment), LIMITS.attributes)
    except ReadingError:
        return True
    except etree.XMLSyntaxError:
        return False
    return False


def _no_mail_image(tag: str, attribute: str, value: str) -> str | None:
    """Drop addresses of images and players that are not on the web."""
    web = attribute not in {"src", "poster"} or value.lower().startswith(("http:", "https:"))
    return value if web else None


def _page_attribute(tag: str, attribute: str, value: str) -> str | None:
    """Drop classes and ids of other forms than `structure` writes, and media at mail addresses."""
    if attribute == "class":
        return value if _CLASS.fullmatch(value) else None
    if attribute == "id":
        return value if _ID.fullmatch(value) else None
    if attribute in {"src", "poster"} and value.strip().lower().startswith("mailto:"):
        return None
    return value


def _as_text(fragment: str) -> str:
    """Return the escaped text of a fragment that no parser should have to take apart."""
    return html.escape(html.unescape(_ANY_TAG.sub(" ", shown(fragment))), quote=False)


def shown(text: str) -> str:
    """Remove comments, scripts and styles in linear time. Unclosed ones stay."""
    lower, pieces, position = text.lower(), [], 0
    # Some capitals are longer in small letters, and positions would no longer fit.
    if len(lower) != len(text):
        lower = text
    while opening := _HIDDEN.search(lower, position):
        mark = _CLOSING[opening[1]]
        end = lower.find(mark, opening.end())
        # An unclosed comment would otherwise swallow the whole rest.
        if end < 0:
            break
        pieces.append(text[position : opening.start()])
        position = end + len(mark)
    return "".join([*pieces, text[position:]])
