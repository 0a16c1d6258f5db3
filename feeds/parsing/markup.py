"""HTML of feeds made safe and readable: sanitised, with absolute addresses, and as plain text.

nh3 decides what is safe. It needs seconds for deep nesting and unbalanced formatting (200,000 nested
divs: over 40 s), so everything with many tags goes through libxml2's parser first, which closes
what is open and tells the depth.
"""

from __future__ import annotations

import html
import re

import nh3
from lxml import etree

from feeds.parsing.addresses import absolute

MAX_DEPTH = 100
"""Levels of elements in one entry; deeper ones keep their text only."""

_MANY_TAGS = 200
_TAGS = {
    "a", "abbr", "acronym", "article", "aside", "b", "bdi", "bdo", "big", "blockquote", "br",
    "caption", "cite", "code", "col", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt",
    "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd",
    "li", "mark", "ol", "p", "picture", "pre", "q", "rp", "rt", "ruby", "s", "samp", "section",
    "small", "span", "strike", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot",
    "th", "thead", "time", "tr", "tt", "u", "ul", "var", "wbr",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"dir", "lang"},
    "a": {"href", "title"},
    "abbr": {"title"},
    "img": {"src", "alt", "title", "width", "height"},
    "li": {"value"},
    "ol": {"start", "reversed", "type"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "time": {"datetime"},
}
_WITH_CONTENT = {
    "script", "style", "svg", "math", "iframe", "frameset", "object", "embed", "applet", "noscript",
    "noembed", "noframes", "template", "title", "head", "textarea", "select", "xmp", "plaintext",
}  # fmt: skip
_BLOCK = (
    "address article aside blockquote br caption center dd details div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section summary "
    "table tbody td tfoot th thead tr ul"
).replace(" ", "|")
_BLOCK_TAG = re.compile(rf"</?(?:{_BLOCK})\b[^>\"]*(?:\"[^\"]*\"[^>\"]*)*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^>\"]*(?:\"[^\"]*\"[^>\"]*)*>", re.IGNORECASE)
_HIDDEN = re.compile(r"<(!--|script\b|style\b)")
_CLOSING = {"!--": "-->", "script": "</script>", "style": "</style>"}
_ANY_TAG = re.compile(r"<[^<>]*>")
_LONGEST_LINE = 8_000
_INLINE = (
    "a|abbr|acronym|b|big|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|small|span|strike|strong|sub"
    "|sup|tt|u|wbr"
)
_KNOWN_TAG = re.compile(rf"</?(?:{_INLINE}|{_BLOCK})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});", re.IGNORECASE)
_MAIL_IMAGE = re.compile(r"src=\"\s*mailto:", re.IGNORECASE)
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_C1 = re.compile("[\x80-\x9f]")
_C1_MEANING = {c: bytes([c]).decode("cp1252", "ignore") for c in range(0x80, 0xA0)}


def cleaned(text: str) -> str:
    """Text without the characters that neither databases nor readers take; C1 controls as windows-1252."""
    text = _UNWANTED.sub("", text)
    return text if text.isascii() or not _C1.search(text) else text.translate(_C1_MEANING)


def looks_like_html(text: str) -> bool:
    """True when a text that may be plain has tags or character references of HTML in it."""
    return ("<" in text and bool(_KNOWN_TAG.search(text))) or ("&" in text and bool(_REFERENCE.search(text)))


def plain_line(text: str) -> str:
    """A title or name as one line of plain text: markup removed, references undone up to twice.

    Nothing in a feed says reliably whether a title is text or HTML, so only tags that HTML knows are
    removed: "1 < 2" and "std::vector<int>" stay as they are.
    """
    text = text[:_LONGEST_LINE]
    if "<" in text:
        text = _KNOWN_TAG.sub(_gap, _shown(text))
    for _ in range(2):
        if "&" not in text or not _REFERENCE.search(text):
            break
        text = html.unescape(text)
        text = _KNOWN_TAG.sub(_gap, text) if "<" in text else text
    return " ".join(cleaned(text).split())


def plain_text(fragment: str) -> str:
    """Text of sanitised HTML, a line for each block."""
    text = fragment
    if "<" in text:
        text = _TAG.sub("", _BLOCK_TAG.sub("\n", text))
    if "&" in text:
        text = html.unescape(text)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


class Sanitiser:
    """An allow-list for reading, applied to the entries of one document (not to be shared by threads)."""

    def __init__(self) -> None:
        self._base = ""
        self._cleaner = self._configured()

    def clean(self, fragment: str, base: str) -> str:
        """Safe HTML: no scripts, styles, forms, frames, SVG or MathML; http, https and mailto addresses only.

        Relative addresses are joined with `base`. Markup nested deeper than MAX_DEPTH comes back as text.
        """
        fragment = cleaned(fragment)
        if "<" not in fragment and "&" not in fragment:
            return fragment.replace(">", "&gt;").strip()
        self._base = base
        if fragment.count("<") > _MANY_TAGS:
            fragment = _balanced(fragment)
        safe = str(self._cleaner.clean(fragment)).strip()
        if _MAIL_IMAGE.search(safe):
            safe = str(self._configured(images_checked=True).clean(safe)).strip()
        return safe

    def _configured(self, images_checked: bool = False) -> nh3.Cleaner:
        """The cleaner; a filter in Python on every attribute costs too much to be there always."""
        return nh3.Cleaner(
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            clean_content_tags=_WITH_CONTENT,
            url_schemes={"http", "https", "mailto"},
            url_relative=self._resolved,
            link_rel="noopener noreferrer nofollow",
            attribute_filter=_no_mail_image if images_checked else None,
        )

    def _resolved(self, reference: str) -> str | None:
        """A relative address made absolute, None (which drops it) when that fails."""
        return absolute(self._base, reference) or None


def _no_mail_image(tag: str, attribute: str, value: str) -> str | None:
    """Drop addresses of images that are not on the web."""
    web = attribute != "src" or value.lower().startswith(("http:", "https:"))
    return value if web else None


def _balanced(fragment: str) -> str:
    """The fragment with every element closed, or its escaped text when it is nested too deeply."""
    parser = etree.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        root = etree.fromstring(f"<html><body>{fragment}</body></html>".encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None or deeper(root, MAX_DEPTH + 2):
        return html.escape(html.unescape(_ANY_TAG.sub(" ", _shown(fragment))), quote=False)
    return str(etree.tostring(root, encoding="unicode", method="html"))


def deeper(root: etree._Element, levels: int) -> bool:
    """True when some element has more than `levels` elements above it."""
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > levels:
            return True
    return False


def _shown(text: str) -> str:
    """The text without comments, scripts and styles, in linear time; what is never closed stays."""
    lower, pieces, position = text.lower(), [], 0
    if len(lower) != len(text):
        lower = text
    while opening := _HIDDEN.search(lower, position):
        mark = _CLOSING[opening[1]]
        end = lower.find(mark, opening.end())
        if end < 0:
            break
        pieces.append(text[position : opening.start()])
        position = end + len(mark)
    return "".join([*pieces, text[position:]])


def _gap(tag: re.Match[str]) -> str:
    """A space for tags of blocks, nothing for the others (they stand inside words)."""
    return " " if _BLOCK_TAG.fullmatch(tag[0]) else ""
