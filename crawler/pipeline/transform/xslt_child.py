"""A stylesheet of somebody else on one document: no file is read or written and nothing is fetched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lxml import etree

from crawler.isolation.calls import register
from crawler.pipeline.transform.children import LIMITS


def run(request: dict[str, Any], body: bytes) -> bytes:
    """Return RDF/XML: the body is the stylesheet, of `request["sheet"]` bytes, and the document behind it."""
    sheet, document = body[: request["sheet"]], body[request["sheet"] :]
    return transformed(sheet, document, request["html"], request["url"])


class _Nowhere(etree.Resolver):
    """A resolver that refuses every include and import, which lxml's access rules do not cover."""

    def resolve(self, system_url: str, public_id: str, context: Any = None) -> Any:
        raise ValueError(f"{system_url[:200]} is not read: a stylesheet stands alone")


def transformed(sheet: bytes, document: bytes, html: bool, url: str) -> bytes:
    """Return the result as bytes. Raises LxmlError for an invalid stylesheet or one that reads a file."""
    safe = etree.XMLParser(no_network=True, resolve_entities=False, load_dtd=False, huge_tree=False)
    safe.resolvers.add(_Nowhere())
    loose = etree.HTMLParser(no_network=True, huge_tree=False)
    control = etree.XSLTAccessControl.DENY_ALL  # type: ignore[attr-defined]
    rules = etree.XSLT(etree.fromstring(sheet, safe), access_control=control)
    tree = etree.fromstring(document, loose if html else safe)
    return bytes(rules(tree, url=etree.XSLT.strparam(url)))


register("xslt", run, replace(LIMITS, files=False))
