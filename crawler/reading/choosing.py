"""Parts of pages and of XML documents, chosen with XPath and CSS. Pure.

An expression is tried as it is written and then, if it finds nothing, as its writer may have meant it: in a
page without the `tbody` that browsers add to tables, in XML without namespaces.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from cssselect import GenericTranslator, SelectorError
from lxml import etree, html

from crawler.reading.census import ElementCounter
from crawler.reading.errors import ReadingError
from crawler.reading.limits import LIMITS
from crawler.reading.lines import flat_negations, usable_selector

_EXSLT = {"re": "http://exslt.org/regular-expressions"}
_STRING_OF = re.compile(r"\s*(?:normalize-space|string)\s*\((.+)\)\s*", re.DOTALL)
_TBODY_STEP = re.compile(r"(\"[^\"]*\"|'[^']*')|/tbody(?:\[1\])?(?=/|\s|\||\)|$)")
_TBODY_ABOVE = re.compile(
    r"(?:>\s*)?(?<![\w.#:\"'-])tbody(?::first-child|:nth-child\(1\)|:first-of-type)?"
    r"(?:\s*(?=>)|\s+(?=[\w.#*\[:]))"
)
_PREFIX = re.compile(r"(\"[^\"]*\"|'[^']*')|(?<![\w.$-])[A-Za-z_][\w.-]*:(?![:=])(?=[A-Za-z_*])")


def chosen_of_page(root: html.HtmlElement, part: str, language: str, expression: str) -> list[Any]:
    """Return the elements and values that a part of a page chooses. Raises ReadingError(malformed)."""
    if language == "css":
        bare = _TBODY_ABOVE.sub("", expression)
        return _selected(root, expression) or (_selected(root, bare) if bare != expression else [])
    bare = _without(_TBODY_STEP, expression)

    def run(path: str) -> Any:
        return root.xpath(path, namespaces=_EXSLT)

    try:
        return _values(expression, run) or (_values(bare, run) if bare != expression else [])
    except etree.XPathError as error:
        raise ReadingError("malformed", f"{part}: {error}") from error


def _selected(root: html.HtmlElement, selector: str) -> list[Any]:
    return cast(list[Any], usable_selector(selector)(root))


class XmlDocument:
    """An XML document, read as far as it goes when it is damaged. `root` is None if nothing is there."""

    def __init__(self, text: str) -> None:
        self._data = text.encode("utf-8", "replace")
        self.root = self._tree()

    def chosen(self, part: str, language: str, expression: str) -> list[Any]:
        """Return the elements and values that a part chooses. Raises ReadingError(malformed)."""
        try:
            path = (
                GenericTranslator().css_to_xpath(flat_negations(expression))
                if language == "css"
                else expression
            )
        except SelectorError as error:
            raise ReadingError("malformed", f"{part}: {error}") from error
        try:
            values = _values(path, self._run)
        except etree.XPathError:  # such as a prefix that this document does not declare
            values = []
        if values and values != [0.0]:
            return values
        try:
            return _values(_without(_PREFIX, path), self._run_bare)
        except etree.XPathError as error:
            raise ReadingError("malformed", f"{part}: {error}") from error

    def _run(self, path: str) -> Any:
        return [] if self.root is None else self.root.xpath(path, namespaces=self._prefixes)

    def _run_bare(self, path: str) -> Any:
        return [] if self._bare is None else self._bare.xpath(path)

    @cached_property
    def _prefixes(self) -> dict[str, str]:
        names = etree.iterwalk(self.root, events=("start-ns",))
        declared = {prefix: uri for _, (prefix, uri) in names if prefix and uri}
        return _EXSLT | declared

    @cached_property
    def _bare(self) -> etree._Element | None:
        """The document with local names alone."""
        root = self._tree()
        for element in () if root is None else root.iter(etree.Element):
            element.tag = local_name(element.tag)
            for name, value in element.attrib.items():
                if local_name(name) != name:
                    del element.attrib[name]
                    element.set(local_name(name), value)
        return root

    def _tree(self) -> etree._Element | None:
        counter = ElementCounter(LIMITS.link_elements, LIMITS.attributes)
        try:
            etree.fromstring(self._data, _parser(target=counter))
            return etree.fromstring(self._data, _parser())
        except etree.XMLSyntaxError:
            return None


def local_name(name: Any) -> str:
    """Return the name of an element or an attribute without its namespace."""
    return str(name).rpartition("}")[2]


def _parser(**options: Any) -> etree.XMLParser:
    """Create libxml2's parser for untrusted and damaged documents, without access to files or network."""
    return etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        recover=True, remove_comments=True, remove_pis=True, **options,
    )  # fmt: skip


def _without(pattern: re.Pattern[str], expression: str) -> str:
    """Return an expression without what matches, outside of its quoted strings, which the pattern keeps."""
    return pattern.sub(lambda match: match[1] or "", expression)


def _values(expression: str, run: Callable[[str], Any]) -> list[Any]:
    """Return what an expression of XPath finds. The text of what is not there is nothing, not an empty text.

    A page that answers with a challenge instead of its content was told as a change to nothing.
    """
    result = run(expression)
    if isinstance(result, list):
        return result
    if isinstance(result, float) and math.isnan(result):
        return []
    if isinstance(result, str) and not result.strip():
        return [result] if _is_there(expression, run) else []
    return [result]


def _is_there(expression: str, run: Callable[[str], Any]) -> bool:
    """Return whether a string function has found an element that is empty."""
    inner = _STRING_OF.fullmatch(expression)
    try:
        return inner is not None and bool(_values(inner[1], run))
    except etree.XPathError:
        return False
