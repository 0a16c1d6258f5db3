"""Detection of a document's type by its bytes, its header and its name (table 1 of the paper, and more).

`detect` is the phase: pure, one document in, a verdict with its reason out. Nothing is parsed beyond the
first elements, and nothing is believed that the bytes contradict.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import urlsplit
from xml.parsers import expat

import msgspec

from crawler.reading.charset import from_wide
from crawler.reading.inflate import head_inside_gzip
from crawler.reading.mime import (
    OCTETS,
    RESOURCE_HEADER,
    STRAY,
    MimeType,
    is_html,
    known_binary,
    mostly_binary,
    parse_mime_type,
)

HTML, XHTML, XML = "html", "xhtml", "xml"
RSS_0, RSS_1, RSS_2, ATOM, JSON_FEED = "rss-0.9x", "rss-1.0", "rss-2.0", "atom", "json-feed"
RDF_XML, JSON_LD, N_TRIPLES, N_QUADS = "rdf-xml", "json-ld", "n-triples", "n-quads"
TURTLE, TRIG = "turtle", "trig"
OPML, SITEMAP, JSON, TEXT, BINARY, EMPTY = "opml", "sitemap", "json", "text", "binary", "empty"
WSDL = "wsdl"

TYPES = (
    HTML, XHTML, XML, RSS_0, RSS_1, RSS_2, ATOM, JSON_FEED, RDF_XML, JSON_LD, TURTLE, TRIG, N_TRIPLES,
    N_QUADS, OPML, SITEMAP, WSDL, JSON, TEXT, BINARY, EMPTY,
)  # fmt: skip

# Only the beginning is looked at: a hundred megabytes of unknown bytes cost no more.
_WINDOW = 65_536
_MAX_STRIPPED = 1_024
"""Bytes at the beginning of a window that may be stray signs and blanks."""
_BRACKETS = {b"{", b"["}

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_ATOM = {"http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"}
_RSS_1 = {
    "http://purl.org/rss/1.0/",
    "http://my.netscape.com/rdf/simple/0.9/",
    "http://channel.netscape.com/rdf/simple/0.9/",
}
_XHTML = "http://www.w3.org/1999/xhtml"
_WSDL = {("definitions", "http://schemas.xmlsoap.org/wsdl/"), ("description", "http://www.w3.org/ns/wsdl")}
_ROOTS = {"opml": OPML, "urlset": SITEMAP, "sitemapindex": SITEMAP}

_BY_HEADER = {
    "text/html": HTML,
    "application/xhtml+xml": XHTML,
    "application/rss+xml": RSS_2,
    "application/atom+xml": ATOM,
    "application/rdf+xml": RDF_XML,
    "application/feed+json": JSON_FEED,
    "application/ld+json": JSON_LD,
    "application/json": JSON,
    "text/turtle": TURTLE,
    "application/x-turtle": TURTLE,
    "application/trig": TRIG,
    "application/x-trig": TRIG,
    "application/n-triples": N_TRIPLES,
    "application/n-quads": N_QUADS,
    "text/x-opml": OPML,
    "application/wsdl+xml": WSDL,
}
_BY_EXTENSION = {
    ".html": HTML, ".htm": HTML, ".xhtml": XHTML, ".rss": RSS_2, ".atom": ATOM, ".rdf": RDF_XML,
    ".owl": RDF_XML, ".jsonld": JSON_LD, ".json": JSON, ".ttl": TURTLE, ".trig": TRIG, ".nt": N_TRIPLES,
    ".nq": N_QUADS, ".opml": OPML, ".wsdl": WSDL,
}  # fmt: skip
_RDF_TEXTS = {TURTLE, TRIG, N_TRIPLES, N_QUADS}
_TEXTUAL = {HTML, *_RDF_TEXTS}
"""What text may be that shows nothing of its kind: a page may begin with words."""

_IRI_SIGNS = r"[^<>\"{}|^`\\\x00-\x20]*"
_IRI = rf"<{_IRI_SIGNS}(?:\\(?:u[0-9A-Fa-f]{{4}}|U[0-9A-Fa-f]{{8}}){_IRI_SIGNS})*>"
_NODE = rf"(?:{_IRI}|_:\S+)"
_LITERAL = rf'"(?:[^"\\\r\n]|\\.)*"(?:@[A-Za-z0-9-]+|\^\^{_IRI})?'
_TRIPLE = rf"{_NODE}[ \t]+{_IRI}[ \t]+(?:{_NODE}|{_LITERAL})[ \t]*"
_N_LINE = re.compile(rf"{_TRIPLE}(?P<graph>{_NODE})?[ \t]*\.[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)".encode())
_DIRECTIVE = r"@(?:prefix|base)\s|PREFIX\s+\S*:\s*<|BASE\s*<"
_TURTLE = re.compile(rf"\s*(?:#[^\n]*\n\s*)*(?:{_DIRECTIVE})".encode(), re.IGNORECASE)
_STATEMENT = re.compile(
    rf"(?:<[A-Za-z][\w+.-]*:[^<>\s]*>|_:\S+)\s+(?:{_IRI}|a)\s+"
    r"(?:<|_:|[\"'\[(]|[+-]?\.?[0-9]|(?:true|false)\b)".encode()
)
"""The first statement of Turtle whose subject is an absolute address or a blank node."""
_NAMED_GRAPH = re.compile(
    rf"\s*(?:#[^\n]*\n\s*)*(?:GRAPH\s+)?(?:{_IRI}|_:[^\s{{]+|\[\s*\])\s*\{{".encode(), re.IGNORECASE
)
_DEFAULT_GRAPH = re.compile(rf"\{{\s*(?:#[^\n]*\n\s*)*(?:{_NODE}|\[|\(|\}}\s*(?:\Z|\S*\s*\{{))".encode())
_BRACE = re.compile(
    rb'"""(?:[^\\]|\\.)*?(?:"""|\Z)|'
    rb"'''(?:[^\\]|\\.)*?(?:'''|\Z)|"
    rb'"(?:[^"\\\n]|\\.)*"?|'
    rb"'(?:[^'\\\n]|\\.)*'?|<[^<>\s]*>|#[^\n]*|\\.|(?P<brace>\{)",
    re.DOTALL,
)
"""The brace that opens a graph of TriG, past the strings, addresses and comments that may hold one."""
_N_LINES = re.compile(rb"(?:^|(?<=\r))" + _N_LINE.pattern, re.MULTILINE)
_TURTLE_LINE = re.compile(
    rb"^[ \t]*(?:@prefix|@base|PREFIX\s+\S*:|BASE)\s*\S*\s*<", re.IGNORECASE | re.MULTILINE
)
_COMMENTS = re.compile(rb"(?:\s*#[^\n]*\n)*\s*")
_JSON_FEED = re.compile(rb'"version"\s*:\s*"https?:\\?/\\?/jsonfeed\.org\\?/version')
_JSON_LD = re.compile(rb'"@(?:context|graph|id|type)"\s*:')
_JSON_START = re.compile(rb'\{\s*"(?:[^"\\\n]|\\.)*"\s*:|\[\s*(?:[\[{"]|-?[0-9][0-9.eE+-]*\s*,)')
"""The beginning of JSON that is longer than the window."""
_SCALAR = re.compile(rb"(?:-?[0-9][0-9.eE+-]*|true|false|null)\s*\Z")
_TURTLE_START = re.compile(
    rf"(?:\s*#[^\n]*\n)*\s*(?:{_DIRECTIVE}|@|VERSION\b|GRAPH\b|_:|<|\(|\[\s*(?:\]|a\s|<|[\w.-]*:)|\{{|"
    r"(?:[^\W\d][\w.-]*)?:\S*\s+(?:a\s|<|[^\W\d][\w.-]*:|:))".encode(),
    re.IGNORECASE,
)
"""How text may begin that is believed to be Turtle, TriG or lines of triples because its header says so."""
_HTML_SOMEWHERE = re.compile(
    rb"<!doctype\s+html|<(?:html|head|body|div|p|h1|article|table)[\s>]", re.IGNORECASE
)
_FEED_SOMEWHERE = re.compile(rb"<(?:\w+:)?(rss|feed|RDF)[\s>]")
_ELEMENTS = re.compile(
    "a|abbr|address|article|aside|b|blockquote|body|br|center|dd|div|dl|dt|em|fieldset|figure|font|footer|form"
    "|frameset|h[1-6]|head|header|hr|i|iframe|img|li|link|main|meta|nav|ol|p|pre|script|section|small|span"
    "|strong|style|table|tbody|td|th|title|tr|tt|u|ul",
    re.IGNORECASE,
)
_NO_XML = re.compile(rb"<!doctype\s+html", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A type of TYPES and the reason in words; `media` is the binary format if it is one."""

    type: str
    reason: str
    media: str = ""


@dataclass(slots=True)
class _Root:
    """The first start tag of a document, and the second if the first is rdf:RDF."""

    name: str = ""
    namespace: str = ""
    version: str = ""
    child_namespace: str | None = None


class _Enough(Exception):
    """An exception that ends expat's run."""


def detect(body: bytes, content_type: str = "", url: str = "") -> Verdict:
    """Detect a document's type from its bytes, Content-Type header and address. Never raises."""
    mime = parse_mime_type(content_type)
    agreed = _agreed(mime, url)
    if not body.strip():
        if agreed in _RDF_TEXTS:
            return Verdict(agreed, f"an empty document; its header and its name say {agreed}")
        return Verdict(EMPTY, "there is nothing in it")
    inner = head_inside_gzip(body)
    packed = bool(inner.strip())
    verdict = (
        _by_bytes(inner if packed else body, mime, agreed)
        or _by_header(mime, inner if packed else body)
        or _by_name(url)
        or Verdict(TEXT, "text of no known kind")
    )
    return replace(verdict, reason=f"inside gzip: {verdict.reason}") if packed else verdict


def _agreed(mime: MimeType | None, url: str) -> str:
    """Return the type that header and name agree on. Returns an empty text when they do not."""
    declared = _BY_HEADER.get(mime.essence, "") if mime is not None else ""
    return declared if declared == _BY_EXTENSION.get(_extension(url)) else ""


def _by_bytes(body: bytes, mime: MimeType | None, agreed: str) -> Verdict | None:
    body = body[:_WINDOW]
    data = False
    if (wide := from_wide(body)) is not None:
        body = wide
    elif binary := known_binary(body):
        return Verdict(BINARY, f"the bytes are {binary[0]}", binary[0])
    else:
        data = mostly_binary(body[:RESOURCE_HEADER])
        body = body.translate(None, STRAY)  # a stray control character says nothing of what the rest is
    lead = body.removeprefix(b"\xef\xbb\xbf").lstrip(b"\t\n\x0c\r ")
    markup = _markup(lead, mime, agreed) if lead.startswith(b"<") else None
    if markup is not None and markup.type != XML:
        return markup
    if data and not lead.startswith(b"<"):
        return Verdict(BINARY, f"the bytes are {OCTETS}", OCTETS)
    if verdict := _agreed_rdf(lead, agreed) or _rdf_text(lead, mime) or markup:
        return verdict
    if data:
        return Verdict(BINARY, f"the bytes are {OCTETS}", OCTETS)
    return _json(lead) if lead[:1] in _BRACKETS else _behind_junk(lead)


def _agreed_rdf(lead: bytes, agreed: str) -> Verdict | None:
    """Believe header and name that agree on a text format of RDF, whatever its mistakes are."""
    if agreed not in _RDF_TEXTS or is_html(lead):
        return None
    return Verdict(agreed, f"its header and its name say {agreed}")


def _markup(lead: bytes, mime: MimeType | None, agreed: str) -> Verdict | None:
    root = _Root() if _NO_XML.match(lead) else _root(lead)
    if root.name:
        verdict = _by_root(root, mime, lead.startswith(b"<?xml"))
        if agreed == RDF_XML and root.namespace and (verdict is None or verdict.type == XML):
            return Verdict(RDF_XML, f"<{root.name[:60]}>; its header and its name say {RDF_XML}")
        if verdict:
            return verdict
    elif is_html(lead) and not _FEED_SOMEWHERE.search(lead):
        return Verdict(HTML, "the first tag is HTML's")
    xml_verdict = Verdict(XML, f"the root element is <{root.name[:60]}>") if root.name else None
    if xml_verdict and _is_well_formed(lead):
        return xml_verdict
    return _behind_junk(lead) or xml_verdict


def _is_well_formed(lead: bytes) -> bool:
    """Return whether XML has no error, as far as it goes."""
    try:
        # Every byte is a character there, so that the declared encoding cannot fail.
        expat.ParserCreate("iso-8859-1").Parse(lead, False)
    except expat.ExpatError:
        return False
    return True


def _by_root(root: _Root, mime: MimeType | None, declared_xml: bool) -> Verdict | None:
    reason = f"the root element is <{root.name}>"
    verdict = _feed_or_data(root, reason)
    if verdict:
        return verdict
    if root.name.lower() == "html":
        strict = root.namespace == _XHTML and mime is not None and mime.is_xml
        return Verdict(XHTML if strict else HTML, reason + (" of XHTML" if strict else ""))
    if root.name in _ROOTS:
        return Verdict(_ROOTS[root.name], reason)
    if not root.namespace:
        if _ELEMENTS.fullmatch(root.name):
            return Verdict(HTML, reason)
        if mime is not None and mime.essence == "text/html" and not declared_xml:
            return Verdict(HTML, f"{reason}, and the header says text/html")
    return None


def _feed_or_data(root: _Root, reason: str) -> Verdict | None:
    if root.name == "rss":
        old = root.version.startswith(("0.9", "1."))
        version = f" of version {root.version[:10]}" if root.version else ""
        return Verdict(RSS_0 if old else RSS_2, reason + version)
    if root.name == "feed" and (root.namespace in _ATOM or not root.namespace):
        return Verdict(ATOM, reason)
    if (root.name, root.namespace) in _WSDL:
        return Verdict(WSDL, reason)
    if root.name == "RDF" and root.namespace == _RDF:
        if root.child_namespace in _RSS_1:
            return Verdict(RSS_1, reason + " and holds RSS 1.0")
        return Verdict(RDF_XML, reason)
    return None


def _root(lead: bytes) -> _Root:
    """Return the root element, parsed by expat as single bytes, independent of the declared encoding."""
    root = _Root()
    parser = expat.ParserCreate("iso-8859-1", " ")

    def begin(name: str, attributes: dict[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        if root.name:
            root.child_namespace = space
            raise _Enough
        root.name, root.namespace, root.version = local, space, attributes.get("version", "").strip()
        if local != "RDF":
            raise _Enough

    parser.StartElementHandler = begin
    with suppress(_Enough, expat.ExpatError):
        parser.Parse(lead, False)
    return root


def _behind_junk(lead: bytes) -> Verdict | None:
    """Detect HTML or a feed behind other content, whichever comes first."""
    page, feed = _HTML_SOMEWHERE.search(lead), _FEED_SOMEWHERE.search(lead)
    # A page may quote a feed's tag, and a feed holds pages: what begins first is the document.
    if feed and (page is None or feed.start() < page.start()):
        kind = {b"rss": RSS_2, b"feed": ATOM, b"RDF": RDF_XML}[feed[1]]
        return Verdict(kind, f"<{feed[1].decode()}> stands behind something else")
    return Verdict(HTML, "HTML tags stand in it") if page and lead.startswith(b"<") else None


def _json(lead: bytes) -> Verdict | None:
    if _JSON_FEED.search(lead):
        return Verdict(JSON_FEED, "JSON with a version of JSON Feed")
    if _JSON_LD.search(lead):
        return Verdict(JSON_LD, "JSON with keywords of JSON-LD")
    return Verdict(JSON, "JSON") if _is_json(lead) else None


def _is_json(lead: bytes) -> bool:
    """Return whether text is JSON or, where it fills the window or is no UTF-8, begins like JSON."""
    # JSON that is cut by the window is no valid JSON any more.
    if len(lead) < _WINDOW - _MAX_STRIPPED:
        try:
            msgspec.json.decode(lead)
        except (msgspec.DecodeError, RecursionError):
            return False
        except UnicodeDecodeError:
            pass
        else:
            return True
    return _JSON_START.match(lead) is not None


def _rdf_text(lead: bytes, mime: MimeType | None) -> Verdict | None:
    """Detect Turtle, TriG and line formats.

    Lines are valid Turtle and Turtle is valid TriG, so the header and later lines decide.
    """
    declared = _BY_HEADER.get(mime.essence) if mime is not None else None
    if lead[:1] in _BRACKETS and (verdict := _json(lead)) and (verdict.type != JSON or declared != TRIG):
        return None
    if _NAMED_GRAPH.match(lead) or _DEFAULT_GRAPH.match(lead):
        return Verdict(TRIG, "a graph in braces")
    if _TURTLE.match(lead):
        return _turtle(lead, declared, "a prefix or base of Turtle")
    comments = _COMMENTS.match(lead)
    start = comments.end() if comments else 0
    line = _N_LINE.match(lead, start)
    if line is None:
        is_turtle = _STATEMENT.match(lead, start)
        return _turtle(lead, declared, "a statement of Turtle") if is_turtle else None
    return _lines(lead, line, declared)


def _turtle(lead: bytes, declared: str | None, reason: str) -> Verdict:
    if any(match["brace"] for match in _BRACE.finditer(lead)):
        return Verdict(TRIG, f"{reason}, and a graph in braces")
    return Verdict(TRIG if declared == TRIG else TURTLE, reason)


def _lines(lead: bytes, line: re.Match[bytes], declared: str | None) -> Verdict:
    if line["graph"] or any(match["graph"] for match in _N_LINES.finditer(lead)):
        return Verdict(N_QUADS, "a quad")
    if declared in {TURTLE, TRIG, N_QUADS}:
        return Verdict(declared, f"a triple, and the header says {declared}")
    if _TURTLE_LINE.search(lead):
        return Verdict(TURTLE, "a triple, and a prefix or base of Turtle behind it")
    return Verdict(N_TRIPLES, "a triple")


def _by_header(mime: MimeType | None, body: bytes) -> Verdict | None:
    """Believe a header about text that shows nothing of its kind, if it may be of that kind at all."""
    if mime is None:
        return None
    kind = _BY_HEADER.get(mime.essence)
    lead = body[:_WINDOW].removeprefix(b"\xef\xbb\xbf").lstrip()
    if kind in _RDF_TEXTS and not _TURTLE_START.match(lead):
        return None
    if kind in {JSON, JSON_LD} and lead[:1] not in {b"{", b"[", b'"'} and not _SCALAR.match(lead):
        return None
    if kind is None and mime.essence.endswith("+json"):
        kind = JSON
    return Verdict(kind, f"the header says {mime.essence}") if kind in {*_TEXTUAL, JSON, JSON_LD} else None


def _by_name(url: str) -> Verdict | None:
    extension = _extension(url)
    kind = _BY_EXTENSION.get(extension)
    return Verdict(kind, f"its name ends with {extension}") if kind in {*_TEXTUAL, JSON, JSON_LD} else None


def _extension(url: str) -> str:
    """Return the extension of the address's last part, with its dot, in small letters."""
    with suppress(ValueError):
        path = urlsplit(url).path.lower()
        return path[path.rfind(".") :] if "." in path.rpartition("/")[2] else ""
    return ""
