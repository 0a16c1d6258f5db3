"""Translate the filters of other feed readers into rules. Pure.

Miniflux has lines such as `EntryTitle=(?i)ferry`, FreshRSS searches such as `intitle:ferry !intitle:train`,
NewsBlur trained words that are liked or not. What has no equal here is named, never half taken: half of a
filter would hit more than the whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from crawler.notices.rules.matching import ArticleConditions, check_expression
from crawler.text.patterns import PatternError

MAX_LINES = 2_000
MUTE, READ, STAR, UP, LABEL = "mute", "read", "star", "up", "label"
_MINIFLUX_FIELDS = {
    "EntryTitle": "title", "EntryURL": "address", "EntryContent": "text", "EntryAuthor": "author",
    "EntryTag": "tag",
}  # fmt: skip
_FRESHRSS_FIELDS = {
    "intitle": "title", "intext": "text", "inurl": "address", "author": "author", "": "",
}  # fmt: skip
_NEWSBLUR_FIELDS = {"titles": "title", "texts": "text", "urls": "address"}
_TERM = re.compile(
    r"""(?P<without>[!-]?)(?:(?P<name>[a-z]+):)?
    (?:/(?P<expression>(?:\\.|[^/\\])+)/(?P<flags>[a-z]*)|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<word>\S+))
    (?=\s|$)\s*""",
    re.VERBOSE,
)
_HEADING = re.compile(r"\[(keep|block)[^\]]*\]", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([()\\\"'])")


@dataclass(frozen=True, slots=True)
class TakenRule:
    """A rule that a filter became."""

    conditions: ArticleConditions
    deeds: tuple[str, ...]
    labels: tuple[str, ...] = ()

    def as_facts(self) -> dict[str, Any]:
        """Return what is set of it."""
        defaults = asdict(ArticleConditions())
        facts = {name: value for name, value in asdict(self.conditions).items() if value != defaults[name]}
        facts["deeds"] = list(self.deeds)
        return facts | ({"labels": list(self.labels)} if self.labels else {})


@dataclass(frozen=True, slots=True)
class ForeignRules:
    """The outcome of filters, in their order: rules, and as text the filters that have no equal."""

    all: list[TakenRule | str] = field(default_factory=list)

    @property
    def rules(self) -> list[TakenRule]:
        """The rules."""
        return [rule for rule in self.all if isinstance(rule, TakenRule)]

    @property
    def left_out(self) -> list[str]:
        """The filters that have no equal, as they were written."""
        return [text for text in self.all if isinstance(text, str)]


class _NoEqual(Exception):
    """Error for a filter that no rule can be."""


def rules_of(program: str, text: str) -> ForeignRules:
    """Translate filters as `program` (miniflux, freshrss, newsblur) stores or exports them.

    Of another program, and of text that is none of these, everything is left out.
    """
    translate = {"miniflux": _of_miniflux, "freshrss": _of_freshrss, "newsblur": _of_newsblur}.get(program)
    outcome = ForeignRules()
    if translate is None:
        outcome.all.append(text)
        return outcome
    translate(text, outcome)
    return outcome


def _of_miniflux(text: str, outcome: ForeignRules) -> None:
    facts = _json(text)
    if facts is None:
        _miniflux_lines(text, outcome)
        return
    for name in ("blocklist_rules", "keeplist_rules"):
        # An expression on title or text, from before the filters by field.
        if old := str(facts.get(name) or "").strip():
            _take(outcome, old, lambda old=old, name=name: _miniflux_rule("", old, keeps="keep" in name))
    for name in ("block_filter_entry_rules", "block_rules"):
        _miniflux_blocked(str(facts.get(name) or ""), outcome)
    for name in ("keep_filter_entry_rules", "keep_rules"):
        _miniflux_kept(str(facts.get(name) or ""), outcome)


def _miniflux_lines(text: str, outcome: ForeignRules) -> None:
    """Take lines that block; those below a heading [keep], until [block], say what is kept."""
    sections: dict[str, list[str]] = {"block": [], "keep": []}
    section = "block"
    for line in _lines(text):
        if heading := _HEADING.fullmatch(line):
            section = heading[1].lower()
        else:
            sections[section].append(line)
    _miniflux_blocked("\n".join(sections["block"]), outcome)
    _miniflux_kept("\n".join(sections["keep"]), outcome)


def _miniflux_blocked(text: str, outcome: ForeignRules) -> None:
    for line in _lines(text):
        _take(outcome, line, lambda line=line: _miniflux_rule(*_miniflux_parts(line), keeps=False))


def _miniflux_kept(text: str, outcome: ForeignRules) -> None:
    """Make one rule of all lines that keep: each by itself would mute what the others keep."""
    lines = list(_lines(text))
    if not lines:
        return
    try:
        parts = [_miniflux_parts(line) for line in lines]
        fields = {looked_in for looked_in, _expression in parts}
        if len(fields) > 1:
            raise _NoEqual
        expressions = [_with_case(expression) for _field, expression in parts]
        joined = (
            expressions[0]
            if len(expressions) == 1
            else "|".join(f"(?:{expression})" for expression in expressions)
        )
        outcome.all.append(_rule(ArticleConditions(without_expression=joined, looked_in=fields.pop()), MUTE))
    except _NoEqual:
        outcome.all.extend(lines)


def _miniflux_parts(line: str) -> tuple[str, str]:
    name, sign, expression = (part.strip() for part in line.partition("="))
    if name not in _MINIFLUX_FIELDS or not sign or not expression:
        raise _NoEqual
    return _MINIFLUX_FIELDS[name], expression


def _miniflux_rule(looked_in: str, expression: str, *, keeps: bool) -> TakenRule:
    expression = _with_case(expression)
    if keeps:
        return _rule(ArticleConditions(without_expression=expression, looked_in=looked_in), MUTE)
    return _rule(ArticleConditions(expression=expression, looked_in=looked_in), MUTE)


def _of_freshrss(text: str, outcome: ForeignRules) -> None:
    facts = _json(text) or {READ: text}
    for deed in (READ, STAR, LABEL):
        lines = facts.get(deed) or []
        for search in _lines("\n".join(lines) if isinstance(lines, list) else str(lines)):
            _take_searches(outcome, search, deed)


def _take_searches(outcome: ForeignRules, search: str, deed: str) -> None:
    """Take the searches that OR parts, all or none."""
    try:
        rules = [_freshrss_rule(part.strip(), deed) for part in re.split(r"\sOR\s", search)]
    except _NoEqual:
        outcome.all.append(search)
    else:
        outcome.all.extend(rules)


def _freshrss_rule(search: str, deed: str) -> TakenRule:
    """Return the rule of one search: at most one thing that is wanted and one that is not, in one place."""
    if search.startswith("#") and " " not in search:
        return _rule(ArticleConditions(tag=search[1:].replace("+", " ").strip()), deed)
    conditions: dict[str, str] = {}
    position, authors = 0, []
    while position < len(search):
        term = _TERM.match(search, position)
        if term is None or (term["name"] or "") not in _FRESHRSS_FIELDS:
            raise _NoEqual
        position = term.end()
        looked_in = _FRESHRSS_FIELDS[term["name"] or ""]
        plain = term["expression"] is None
        if plain and looked_in == "author" and not term["without"]:
            authors.append(_plain_term(term))
            continue
        if looked_in != conditions.setdefault("looked_in", looked_in):
            raise _NoEqual
        name = "without_expression" if term["without"] else "expression"
        if name in conditions:
            raise _NoEqual
        conditions[name] = (
            re.escape(_plain_term(term)).replace(r"\ ", " ") if plain else _freshrss_expression(term)
        )
    if len(authors) > 1 or not (conditions or authors):
        raise _NoEqual
    return _rule(ArticleConditions(**conditions, author="".join(authors)), deed)  # type: ignore[arg-type]


def _plain_term(term: re.Match[str]) -> str:
    for name in ("double", "single"):
        if term[name] is not None:
            return _ESCAPED.sub(r"\1", term[name]).strip()
    if term["word"][0] in "\"'(#" or term["word"].startswith(("f:", "c:")):
        raise _NoEqual
    return term["word"].replace("+", " ")


def _freshrss_expression(term: re.Match[str]) -> str:
    if set(term["flags"]) - set("im"):
        raise _NoEqual
    multiline = "(?m)" if "m" in term["flags"] else ""
    return (
        f"{multiline}{term['expression']}"
        if "i" in term["flags"]
        else f"(?-i){multiline}{term['expression']}"
    )


def _of_newsblur(text: str, outcome: ForeignRules) -> None:
    for name, trained in (_json(text) or {}).items():
        for value, liking in trained.items() if isinstance(trained, Mapping) else ():
            if liking not in (1, -1):
                continue
            try:
                outcome.all.append(_newsblur_rule(name, str(value), UP if liking == 1 else MUTE))
            except _NoEqual:
                outcome.all.append(f"{name}: {value}: {liking}")


def _newsblur_rule(name: str, value: str, deed: str) -> TakenRule:
    if name == "authors":
        return _rule(ArticleConditions(author=value), deed)
    if name == "tags":
        return _rule(ArticleConditions(tag=value), deed)
    if name in _NEWSBLUR_FIELDS:
        return _rule(ArticleConditions(expression=_escaped(value), looked_in=_NEWSBLUR_FIELDS[name]), deed)
    if name.endswith("_regex") and name.removesuffix("_regex") in {"author", "title", "text", "tag"}:
        return _rule(ArticleConditions(expression=value, looked_in=name.removesuffix("_regex")), deed)
    raise _NoEqual


def _rule(conditions: ArticleConditions, deed: str) -> TakenRule:
    """Return a rule. Raises _NoEqual for an expression that is none, and for conditions that all meet."""
    if conditions.is_empty:
        raise _NoEqual
    try:
        check_expression(conditions.expression)
        check_expression(conditions.without_expression)
    except PatternError as error:
        raise _NoEqual from error
    return TakenRule(conditions, (deed,))


def _take(outcome: ForeignRules, written: str, make: Any) -> None:
    try:
        outcome.all.append(make())
    except _NoEqual:
        outcome.all.append(written)


def _escaped(text: str) -> str:
    """Return an expression that finds a text, also within words, as those programs do."""
    return re.escape(text).replace(r"\ ", " ")


def _with_case(expression: str) -> str:
    """Return an expression of a program that minds case, with a sign that ours does, too."""
    return expression if "(?i)" in expression else f"(?-i){expression}"


def _lines(text: str) -> Iterator[str]:
    lines = (line.strip() for line in text.splitlines()[:MAX_LINES])
    return (line for line in lines if line)


def _json(text: str) -> dict[str, Any] | None:
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return facts if isinstance(facts, dict) else None
