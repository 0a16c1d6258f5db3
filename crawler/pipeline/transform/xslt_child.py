"""A stylesheet of somebody else on one document, in a process of its own (see children.py).

Reads a line of JSON {"html", "url", "sheet", ...}, the stylesheet of so many bytes and the document; writes
RDF/XML, or the reason on standard error. No file is read or written and nothing is fetched.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from lxml import etree

from crawler.pipeline.transform.children import limit


def main() -> int:
    """Transform the document. Returns 1, with the reason on standard error, where that fails."""
    request = json.loads(sys.stdin.buffer.readline())
    sheet, document = sys.stdin.buffer.read(request["sheet"]), sys.stdin.buffer.read()
    limit(request, files=False)
    try:
        result = transformed(sheet, document, request["html"], request["url"])
    except (etree.LxmlError, ValueError, MemoryError, RecursionError) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}"[:500])
        return 1
    if len(result) > request["output"]:
        sys.stderr.write(f"more than {request['output']} bytes of output")
        return 1
    sys.stdout.buffer.write(result)
    return 0


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


if __name__ == "__main__":
    sys.exit(main())
