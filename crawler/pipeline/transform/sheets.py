"""Our own stylesheets, compiled once for each thread; with no file and no network for any of them."""

from __future__ import annotations

import re
import threading
from functools import cache
from pathlib import Path
from typing import cast

import pyoxigraph
from lxml import etree

from crawler.pipeline.transform.graph import Graph
from crawler.reading.errors import ReadingError
from crawler.reading.mime import STRAY

_ESCAPED = re.compile(rb"&#(?:[0-8]|1[124-9]|2[0-9]|3[01]|x(?:[0-8BbCcEeFf]|1[0-9A-Fa-f]));")
"""Control characters that pages write as numbers: XML has no way to say them."""

_NO_LANGUAGE = re.compile(rb'(<[^<>]*) xml:lang=""')
"""An element whose text is in no known language: RDF/XML has no empty language tag."""

_FOLDER = Path(__file__).parent / "stylesheets"
_compiled = threading.local()


def apply(name: str, tree: etree._Element, graph: Graph, language: str) -> None:
    """Add what the stylesheet makes of a tree whose texts are in this language. Raises ReadingError."""
    url, tag = etree.XSLT.strparam(graph.url), etree.XSLT.strparam(language)
    try:
        result = _sheet(name)(tree, url=url, language=tag)
        text = _ESCAPED.sub(b"", bytes(result).translate(None, STRAY))
        if not language:
            text = _NO_LANGUAGE.sub(rb"\1", text)
        graph.read(text, pyoxigraph.RdfFormat.RDF_XML, tolerant=True)
    except (etree.XSLTError, SyntaxError, ValueError) as error:
        raise ReadingError("malformed", f"{name}.xsl: {str(error)[:300]}") from error


def _sheet(name: str) -> etree.XSLT:
    sheets = _compiled.__dict__
    if name not in sheets:
        parser = etree.XMLParser(no_network=True, resolve_entities=False)
        control = etree.XSLTAccessControl.DENY_ALL  # type: ignore[attr-defined]
        sheets[name] = etree.XSLT(etree.fromstring(_text(name), parser), access_control=control)
    return cast(etree.XSLT, sheets[name])


@cache
def _text(name: str) -> bytes:
    return (_FOLDER / f"{name}.xsl").read_bytes()
