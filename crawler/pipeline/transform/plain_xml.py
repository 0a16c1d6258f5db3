"""RDF/XML in the few words of XML that Oxigraph's parser reads without mistakes.

It refuses text beside CDATA sections and comments, encodings other than UTF-8, relative bases and empty
languages, and keeps carriage returns. Comments and instructions say nothing in RDF.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from crawler.reading.charset import to_utf8
from crawler.reading.errors import ReadingError

MAX_ATTRIBUTES = 1_000
"""Attributes of one element: Oxigraph compares each with all others."""
MAX_BASE_CHARACTERS = 4_096
MAX_GROWTH = 20_000_000
"""Characters that may be added, by bases written out and signs escaped, to twice the document's."""
DEEPEST = 256
"""Levels of elements."""
_FOREIGN_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);|#)[^\s;&<>]{1,100};")
"""An entity that XML itself does not have; expat drops those of other files from attributes silently."""
_LANGUAGE = "xml:lang"
_BASE = "xml:base"


class _Writer:
    """A writer of the tags and texts of one document."""

    def __init__(self, url: str, max_characters: int) -> None:
        self.parts: list[str] = []
        self._left = max_characters
        self._languages = [""]
        """Those of the open elements."""
        self._bases = [url]
        """Those of the open elements."""

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        if len(attributes) > MAX_ATTRIBUTES:
            raise ReadingError("too-large", f"an element with more than {MAX_ATTRIBUTES} attributes")
        if len(self._bases) > DEEPEST:
            raise ReadingError("too-deep", f"nested more than {DEEPEST} levels deep")
        inherited = self._languages[-1]
        language = attributes.get(_LANGUAGE, inherited)
        if not language and not inherited:
            attributes.pop(_LANGUAGE, None)  # there is nothing that it takes back
        self._languages.append(language)
        base = self._bases[-1]
        if _BASE in attributes:
            base = attributes[_BASE] = urljoin(base, attributes[_BASE])
        if len(base) > MAX_BASE_CHARACTERS:
            raise ReadingError("too-large", f"a base of more than {MAX_BASE_CHARACTERS} characters")
        self._bases.append(base)
        written = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
        self._write(f"<{name}{written}>")

    def end(self, name: str) -> None:
        self._languages.pop()
        self._bases.pop()
        self._write(f"</{name}>")

    def text(self, text: str) -> None:
        self._write(escape(text, {"\r": "&#13;"}))

    def _write(self, text: str) -> None:
        self._left -= len(text)
        if self._left < 0:
            raise ReadingError("too-large", "it grows too much when it is written out")
        self.parts.append(text)


def plain_xml(body: bytes, content_type: str, url: str) -> bytes:
    """Rewrite RDF/XML from `url` as UTF-8 without a declaration. Raises SyntaxError for ill-formed XML.

    Raises ReadingError (too-large, too-deep) for bounds of attributes, bases, depth and size.
    """
    data, sound = to_utf8(body, content_type)
    if not sound:
        raise SyntaxError("some of its bytes are no text")
    if _FOREIGN_ENTITY.search(data) and b"<!DOCTYPE" in data:
        raise SyntaxError("an entity stands for something that is not in the document")
    writer = _Writer(url, 2 * len(data) + MAX_GROWTH)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.specified_attributes = True  # a default could be large, and repeated without end
    parser.StartElementHandler, parser.EndElementHandler = writer.begin, writer.end
    parser.CharacterDataHandler = writer.text
    parser.EntityDeclHandler = parser.SkippedEntityHandler = _refuse_entity
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise SyntaxError(f"ill-formed XML: {error}") from error
    return "".join(writer.parts).encode()


def _refuse_entity(name: str, *_: object) -> None:
    raise SyntaxError(f"the entity {name[:60]} stands for something else")
