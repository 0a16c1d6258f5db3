"""HTML pages: title, links, images, mail addresses and meta by page.xsl; JSON-LD and microdata beside it."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import unquote

from lxml import etree, html

from crawler.fetching.http.urls import BadUrl, host_key
from crawler.pipeline.terms import safe
from crawler.pipeline.transform import jsonld, microdata, sheets
from crawler.pipeline.transform.graph import Graph, SourceDocument, resolved
from crawler.reading.json_ld import is_json_ld
from crawler.reading.language_tags import language_tag
from crawler.reading.limits import LIMITS
from crawler.reading.pages.tree import page_tree, text_of, whole_tree

MAX_BLOCKS = 1_000
_ADDRESSES = {"a": "href", "area": "href", "link": "href", "img": "src", "iframe": "src", "frame": "src"}
# Whether anything lies so deep; a walk in Python would take a fifth of the whole transformation.
_DEEP = etree.XPath(f"boolean({'/*' * LIMITS.depth})")
_MAIL = re.compile(r"[^\s@<>\"']{1,64}@[^\s@<>\"'/?]{1,255}")
_META_ADDRESSES = (
    "og:image",
    "og:image:url",
    "og:video",
    "og:video:url",
    "og:audio",
    "og:audio:url",
    "og:url",
    "twitter:image",
)


def page_graph(document: SourceDocument, graph: Graph, *, hash_mail: bool = False) -> None:
    """Add the statements of a page, with mail addresses as SHA-1 on request. Raises ReadingError."""
    text = text_of(document.body, document.content_type)
    root = whole_tree(text)
    if root is not None and _DEEP(root):
        root = page_tree(text)
    if root is None:
        return
    base = _base(root, graph.url)
    microdata.add(root, graph, base)
    _prepare(root, graph.url, base, hash_mail)
    sheets.apply("page", root, graph, language_tag(root.get("lang") or root.get("xml:lang") or ""))
    blocks = [script for script in root.iter("script") if is_json_ld(script.get("type") or "")]
    for script in blocks[:MAX_BLOCKS]:
        jsonld.add(script.text or "", graph)
    if len(blocks) > MAX_BLOCKS:
        graph.notes.append(f"only the first {MAX_BLOCKS} of {len(blocks)} JSON-LD blocks were read")


def _base(root: html.HtmlElement, url: str) -> str:
    """Return the address from which the page's relative addresses start."""
    for element in root.iter("base"):
        return resolved(url, element.get("href") or "") or url
    return url


def _prepare(root: html.HtmlElement, url: str, base: str, hash_mail: bool) -> None:
    """Make addresses absolute and remove invalid ones."""
    own_host = _host(url)
    hosts: dict[str, str] = {}
    for element in root.iter(*_ADDRESSES):
        name = _ADDRESSES[element.tag]
        reference = element.get(name)
        if reference is None:
            continue
        reference = reference.strip()
        if reference not in hosts:
            hosts[reference] = "" if reference.startswith("#") else resolved(base, reference)
        address = hosts[reference]
        if not address:
            _mail(element, reference, hash_mail)
            del element.attrib[name]
            continue
        element.set(name, address)
        if element.tag == "link" and _host(address) == own_host:
            element.set("own", "1")
    for element in root.iter("meta"):
        if (element.get("property") or element.get("name") or "").lower() in _META_ADDRESSES:
            address = resolved(base, (element.get("content") or "").strip())
            if address:
                element.set("iri", address)


def _mail(element: html.HtmlElement, reference: str, hash_mail: bool) -> None:
    if reference[:7].lower() != "mailto:":
        return
    match = _MAIL.fullmatch(unquote(reference[7:].partition("?")[0]).strip())
    if not match or not match[0].isascii():
        return
    address = "mailto:" + match[0].lower()
    # What FOAF's mbox_sha1sum is by definition; no secret hangs on it.
    hashed = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    element.set("mbox", hashed if hash_mail else safe(address))


def _host(url: str) -> str:
    try:
        return host_key(url)
    except BadUrl:
        return ""
