"""The way a watched document is read: its parts and what of them is compared. Pure.

A part is written with the language that chooses it: `css:main .price`, `xpath://td[2]`,
`jsonpath:$.items[*].name`, `jq:.items[].name`. Without a language it is a CSS selector.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lxml import etree

from crawler.reading.lines import SelectorFault, usable_selector
from crawler.text.reasons import Reason

TEXT, MARKUP, DATA = "text", "markup", "data"
"""What is compared: the text, the elements with their attributes, or the data of a document."""
PAGE_LANGUAGES, DATA_LANGUAGES = ("css", "xpath"), ("jsonpath", "jq")
MAX_PART_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """The way a document is read: its parts (all of it without any), ignored CSS selectors, and what is
    compared.
    """

    parts: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    compared: str = TEXT


def language_and_expression(part: str) -> tuple[str, str]:
    """Split a part into its language and its expression. Without a language it is CSS."""
    language, colon, expression = part.partition(":")
    if colon and language in PAGE_LANGUAGES + DATA_LANGUAGES:
        return language, expression.strip()
    return "css", part.strip()


def chooses_data(part: str) -> bool:
    """Return whether a part chooses values of JSON."""
    return language_and_expression(part)[0] in DATA_LANGUAGES


def check_part(part: str) -> None:
    """Raise SelectorFault with the reason when a part cannot be understood."""
    language, expression = language_and_expression(part)
    if not expression or len(part) > MAX_PART_CHARACTERS:
        raise SelectorFault(Reason("a part has from one to {0} characters", MAX_PART_CHARACTERS))
    try:
        _CHECKS[language](expression)
    except SelectorFault:
        raise
    except Exception as error:  # each library has errors of its own
        words = Reason("{0} is no {1}: {2}", repr(expression[:100]), language, str(error)[:200])
        raise SelectorFault(words) from error


def parts_digest_words(parts: Sequence[str], ignored: Sequence[str], compared: str) -> str:
    """Return words that differ when documents are read differently, as of old for ignored selectors alone."""
    words = "\n".join(ignored)
    return words if not parts and compared == TEXT else "\n".join([words, compared, "", *parts])


def _check_xpath(expression: str) -> None:
    """Compile the expression, and refuse functions of later versions, which fail only when they are reached.

    `matches()` from a backup of changedetection.io, which speaks XPath 2, made each look at its page fail.
    """
    etree.XPath(expression, namespaces={"re": "http://exslt.org/regular-expressions"})
    for name in _XPATH_CALL.findall(_XPATH_STRING.sub("''", expression)):
        if name not in _XPATH_FUNCTIONS:
            raise SelectorFault(Reason("{0}: XPath 1.0 has no function {1}()", repr(expression[:100]), name))


def _check_jsonpath(expression: str) -> None:
    import jsonpath  # noqa: PLC0415 - loaded with the first part that needs it

    jsonpath.compile(expression)


def _check_jq(expression: str) -> None:
    import jq  # noqa: PLC0415 - loaded with the first part that needs it

    jq.compile(expression)


_XPATH_STRING = re.compile(r"\"[^\"]*\"|'[^']*'")
_XPATH_CALL = re.compile(r"(?<![\w.:-])([A-Za-z][\w.-]*(?::[A-Za-z][\w.-]*)?)\s*\(")
_XPATH_FUNCTIONS = frozenset(
    {
        "last", "position", "count", "id", "local-name", "namespace-uri", "name", "string", "concat",
        "starts-with", "contains", "substring", "substring-before", "substring-after", "string-length",
        "normalize-space", "translate", "boolean", "not", "true", "false", "lang", "number", "sum", "floor",
        "ceiling", "round", "text", "node", "comment", "processing-instruction", "and", "or", "div", "mod",
        "re:test", "re:match", "re:replace",
    }
)  # fmt: skip
"""What may stand before a bracket in XPath 1.0: functions, tests of nodes, operators; and EXSLT's `re:`."""
_CHECKS: dict[str, Callable[[str], object]] = {
    "css": usable_selector,
    "xpath": _check_xpath,
    "jsonpath": _check_jsonpath,
    "jq": _check_jq,
}
