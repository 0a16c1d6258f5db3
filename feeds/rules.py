"""Rules of sources as rows of the database keep them: JSON objects without empty rules."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import asdict

from crawler.reading.documents import SourceRules
from crawler.reading.lines import SelectorFault
from crawler.reading.parts import check_part
from crawler.reading.sources.kinds import DATA, FEED, LISTS, PAGE
from crawler.text.marking import gettext_noop
from crawler.text.reasons import Reason

PARTS = ("entry", "title", "link", "date", "image", "summary", "next", "browser")


def rules_in(stored: Mapping[str, str]) -> SourceRules:
    """Return the rules that a row has."""
    return SourceRules(**{part: stored[part] for part in PARTS if stored.get(part)})


def stored_rules(rules: SourceRules) -> dict[str, str]:
    """Return rules as a row keeps them."""
    return {part: expression for part, expression in asdict(rules).items() if expression}


def checked_rules(kind: str, raw_rules: Mapping[str, Any]) -> dict[str, str]:
    """Return rules as people gave them, without empty ones. Raises SelectorFault naming the one in fault."""
    if unknown := sorted(set(raw_rules) - set(PARTS)):
        raise SelectorFault(f"there is no rule for {unknown[0]!r}; rules are for {', '.join(PARTS)}")
    rules = {part: str(raw_rules[part]).strip() for part in PARTS if raw_rules.get(part)}
    if rules and kind not in (PAGE, DATA):
        raise SelectorFault("only pages and lists in JSON have rules")
    if rules.get("browser", "yes") != "yes" or (kind != PAGE and "browser" in rules):
        raise SelectorFault("browser: `yes` opens a page in a browser before it is read")
    for part, expression in rules.items():
        if part == "browser":
            continue
        try:
            check_part(with_language(kind, expression))
        except SelectorFault as fault:
            raise SelectorFault(Reason("{0}: {1}", part, str(fault))) from fault
    if kind == PAGE and set(rules) - {"browser"} and not rules.get("entry"):
        raise SelectorFault(
            Reason("a rule for {0} is missing: which elements of the page are its articles", "`entry`")
        )
    return rules


def source_key(
    canonical: str,
    kind: str = FEED,
    rules: Mapping[str, str] = MappingProxyType({}),
    owner: int | None = None,
) -> str:
    """Return what a source is known by: its canonical address, with the key of the person to whom it belongs.

    That of a list has a mark of the rule for its entries: a page may have several, and a feed beside them.
    """
    canonical = f"{canonical}#of:{owner}" if owner else canonical
    if kind not in LISTS:
        return canonical
    mark = hashlib.blake2b(rules.get("entry", "").encode(), digest_size=6).hexdigest()
    return f"{canonical}#{kind}:{mark}"


def with_language(kind: str, expression: str) -> str:
    """Return a rule with the language that it is in: of JSON it is jq where it names none."""
    if kind != DATA or expression.startswith(("jq:", "jsonpath:")):
        return expression
    return f"jq:{expression}"


def source_line(kind: str, rules: Mapping[str, str], url: str) -> str:
    """Return a source as one line: its address alone, of a list with its kind and rules before it."""
    if kind not in LISTS:
        return url
    return f"{kind}:{json.dumps(dict(rules), separators=(',', ':'), ensure_ascii=True)} {url}"


def source_in(line: str) -> tuple[str, dict[str, str], str]:
    """Return kind, rules and address of a line of `source_line`. Raises SelectorFault for unusable rules."""
    kind, colon, remainder = line.partition(":{")
    if not colon or kind not in LISTS:
        return FEED, {}, line
    try:
        rules, end = json.JSONDecoder().raw_decode("{" + remainder)
    except ValueError as error:
        raise SelectorFault(gettext_noop("the rules of the list cannot be read")) from error
    return kind, checked_rules(kind, rules), ("{" + remainder)[end:].strip()
