"""RDF/XML in the few words of XML that Oxigraph's parser reads without mistakes.

It refuses text beside CDATA sections and comments, encodings other than UTF-8, relative bases and empty
languages, and keeps carriage returns. Comments and instructions say nothing in RDF.
"""

from __future__ import annotations

from urllib.parse import urljoin
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from crawler.reading.charset import to_utf8
from crawler.reading.errors import ReadingError

MAX_ATTRIBUTES = 1_000
"""Attributes of one element: Oxigraph compares each with all others."""
_LANGUAGE = "xml:lang"
_BASE = "xml:base"


class _Writer:
    """A writer of the tags and texts of one document."""

    def __init__(self, url: str) -> None:
        self.parts: list[str] = []
        self._languages = [""]
        """Those of the open elements."""
        self._bases = [url]
        """Those of the open elements."""

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        if len(attributes) > MAX_ATTRIBUTES:
            raise ReadingError("too-large", f"an element with more than {MAX_ATTRIBUTES} attributes")
        inherited = self._languages[-1]
        language = attributes.get(_LANGUAGE, inherited)
        if not language and not inherited:
            attributes.pop(_LANGUAGE, None)  # there is nothing that it takes back
        self._languages.append(language)
        base = self._bases[-1]
        if _BASE in attributes:
            base = attributes[_BASE] = urljoin(base, attributes[_BASE])
        self._bases.append(base)
        written = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
        self.parts.append(f"<{name}{written}>")

    def end(self, name: str) -> None:
        self._languages.pop()
        self._bases.pop()
        self.parts.append(f"</{name}>")

    def text(self, text: str) -> None:
        self.parts.append(escape(text, {"\r": "&#13;"}))


def plain_xml(body: bytes, content_type: str, url: str) -> bytes:
    """Rewrite RDF/XML from `url` as UTF-8 without a declaration. Raises SyntaxError for ill-formed XML.

    Raises ReadingError(too-large) for an element with more than MAX_ATTRIBUTES.
    """
    data, sound = to_utf8(body, content_type)
    if not sound:
        raise SyntaxError("some of its bytes are no text")
    writer = _Writer(url)
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
