"""Repair of ill-formed feeds in their text, so that the strict parser can read them.

Junk around the document, characters and references that XML forbids, HTML's entities, bare ampersands
and undeclared namespace prefixes: the faults that feed validators see most. Tags are left as they are.
"""

from __future__ import annotations

import html
import re
from html.entities import html5

NAMESPACES = {
    "atom": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "georss": "http://www.georss.org/georss",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
    "podcast": "https://podcastindex.org/namespace/1.0",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "slash": "http://purl.org/rss/1.0/modules/slash/",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "thr": "http://purl.org/syndication/thread/1.0",
    "wfw": "http://wellformedweb.org/CommentAPI/",
    "xhtml": "http://www.w3.org/1999/xhtml",
}

ROOT = re.compile(r"<((?:[\w-]+:)?(?:rss|rdf|feed|channel))(?=[\s>])", re.IGNORECASE)
_OPENING = re.compile(r"<!(?:\[CDATA\[|--)")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
# Bounded lengths: an ampersand before a long word would be searched from each of its letters.
_REFERENCE = re.compile(
    r"&(?!(?:amp|lt|gt|quot|apos);)(?:#(\d{1,7}|[xX][0-9a-fA-F]{1,6});|([A-Za-z][A-Za-z0-9]{1,30};))?"
)
_PREFIX = re.compile(r"<([\w-]+):[\w-]|\s([\w-]+):[\w-]+\s*=\s*[\"']")
_DECLARED = re.compile(r"\sxmlns:([\w-]+)\s*=")


def repair(text: str) -> str:
    """Return the document's text from its root element on, without the faults named above."""
    text = _FORBIDDEN.sub("", _trimmed(text))
    pieces = sections(text)
    pieces[::2] = [_REFERENCE.sub(_legal, piece) if "&" in piece else piece for piece in pieces[::2]]
    return _declared("".join(pieces), pieces[::2])


# In CDATA an ampersand is a character, and mending it would show "&amp;" to readers.
def sections(text: str) -> list[str]:
    """Split the text so that every second piece is a CDATA section or comment, in linear time.

    An unclosed section or comment counts as ordinary text.
    """
    pieces, position = [], 0
    while opening := _OPENING.search(text, position):
        mark = "]]>" if opening[0].endswith("[") else "-->"
        end = text.find(mark, opening.end())
        if end < 0:
            break
        pieces += [text[position : opening.start()], text[opening.start() : end + 3]]
        position = end + 3
    return [*pieces, text[position:]]


def _trimmed(text: str) -> str:
    """Cut the text to the root element: nothing before or behind it carries data."""
    root = ROOT.search(text)
    # PHP writes its warnings before the declaration, where XML allows nothing.
    if not root:
        return text
    end = text.rfind(f"</{root[1]}")
    close = text.find(">", end) if end > root.end() else -1
    return text[root.start() : close + 1] if close > 0 else text[root.start() :]


def _legal(reference: re.Match[str]) -> str:
    """Keep a reference that XML knows, resolve one of HTML, and escape others as text."""
    number, name = reference[1], reference[2]
    if number:
        # HTML's reading gives &#150; its windows-1252 meaning and forbidden characters none.
        character = _FORBIDDEN.sub("", html.unescape(reference[0]))
        return "" if character == "\ufffd" else html.escape(character)
    if name is None:
        return "&amp;"
    return html.escape(html5[name]) if name in html5 else "&amp;" + name


def _declared(text: str, outside: list[str]) -> str:
    """Add namespace declarations to the root for the prefixes that are used without one."""
    used = {a or b for piece in outside for a, b in _PREFIX.findall(piece)}
    # elfeed 411: a prefix without declaration makes the whole document ill-formed.
    missing = sorted(used - set(_DECLARED.findall(text)) - {"xml", "xmlns"})[:50]
    root = ROOT.match(text)
    if not missing or not root:
        return text
    declarations = "".join(f' xmlns:{p}="{NAMESPACES.get(p, "urn:undeclared:" + p)}"' for p in missing)
    return text[: root.end()] + declarations + text[root.end() :]
