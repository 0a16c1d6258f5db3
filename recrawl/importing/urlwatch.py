"""Jobs of urlwatch and webchanges: the YAML file with a document for each page. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from crawler.reading.lines import SelectorFault
from crawler.reading.parts import check_part
from crawler.text.marking import gettext_noop
from crawler.text.patterns import PatternError, compiled

MAX_CHARACTERS = 2_000_000
"""Of a file: libyaml reads some MB in a second."""
SOME_FILTERS = gettext_noop("some of its filters")
SETTINGS_LOST = {
    "cookies": gettext_noop("its request headers"),
    "data": gettext_noop("the content of its request"),
    "diff_filter": SOME_FILTERS,
    "headers": gettext_noop("its request headers"),
    "http_proxy": gettext_noop("its proxy"),
    "https_proxy": gettext_noop("its proxy"),
    "method": gettext_noop("its request method"),
    "wait_for": gettext_noop("its wait after loading"),
    "wait_for_selector": gettext_noop("its wait after loading"),
    "wait_for_timeout": gettext_noop("its wait after loading"),
}
_PARTS = {"css": "css:", "xpath": "xpath:", "jq": "jq:", "jsonpath": "jsonpath:", "element-by-id": "css:#",
          "element-by-class": "css:.", "element-by-tag": "css:"}  # fmt: skip
_MEANS_NOTHING = {"html2text", "strip", "format-json", "beautify", "csv2text", "pdf2text"}
"""Filters that make text of a page, which is what is compared here anyway."""
_DIRECTIONS = {"additions_only": "added", "deletions_only": "removed"}
_ADDRESSES = ("url", "navigate", "command")
_JOB = re.compile(r"^\s*(?:-\s+)?(?:url|navigate|command)\s*:", re.MULTILINE)


def is_urlwatch(text: str) -> bool:
    """Return whether a text looks like jobs of urlwatch."""
    return _JOB.search(text[:100_000]) is not None


def jobs_of(text: str) -> Iterator[tuple[str, str, dict[str, Any], list[str]]]:
    """Yield the address, the name, the settings of a site and what is lost, of each job.

    Jobs that run a command have no address: "". Raises ValueError for what is no YAML.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError("the file is too long")
    try:
        documents = list(_documents(text))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("this is no YAML") from error
    for document in documents:
        for job in document if isinstance(document, list) else [document]:
            if isinstance(job, Mapping):
                yield _job(job)


class _JobLoader(yaml.CSafeLoader):
    """Reads YAML; what has an unknown tag is the tag's text, as of a filter `!element-by-id:x`."""


_JobLoader.add_multi_constructor("!", lambda _loader, suffix, _node: f"!{suffix}")


def _documents(text: str) -> Iterator[Any]:
    """Yield the documents of a file, and the jobs of one that lacks the lines `---` between them."""
    loader = _JobLoader(text)
    while loader.check_node():
        if document := loader.get_node():
            for node in _jobs_in(document):
                yield loader.construct_document(node)


def _jobs_in(node: yaml.Node) -> list[yaml.Node]:
    """Return the jobs of a document: a field that comes again begins the next one."""
    if not isinstance(node, yaml.MappingNode):
        return [node]
    groups: list[list[tuple[yaml.Node, yaml.Node]]] = [[]]
    for key, value in node.value:
        if any(key.value == before.value for before, _value in groups[-1]):
            groups.append([])
        groups[-1].append((key, value))
    if not all(any(key.value in _ADDRESSES for key, _value in group) for group in groups):
        return [node]
    return [yaml.MappingNode(node.tag, group) for group in groups]


def _job(job: Mapping[Any, Any]) -> tuple[str, str, dict[str, Any], list[str]]:
    url = job.get("url") or job.get("navigate") or ""
    lost = [words for name, words in SETTINGS_LOST.items() if job.get(name)]
    settings: dict[str, Any] = {}
    if job.get("navigate") or job.get("use_browser") is True:
        settings["browser"] = True
    directions = [direction for name, direction in _DIRECTIONS.items() if job.get(name) is True]
    settings |= {"direction": directions[0]} if len(directions) == 1 else {}
    parts, ignored = list[str](), list[str]()
    for name, value in _filters(job.get("filter", job.get("filters"))):
        if name in _MEANS_NOTHING:
            continue
        text = value if isinstance(value, str) else ""
        part = _part(name, text, parts)
        if part and _is_usable(check_part, part):
            parts = [part]
        elif name in {"grepi", "delete_lines_containing"} and text and _is_usable(compiled, text):
            ignored.append(text)
        else:
            lost.append(SOME_FILTERS)
    settings |= {"parts": parts} if parts else {}
    settings |= {"ignore_patterns": ignored} if ignored else {}
    called = job.get("name")
    title = called.strip()[:500] if isinstance(called, str) else ""
    return str(url).strip(), title, settings, list(dict.fromkeys(lost))


def _part(name: str, text: str, before: list[str]) -> str:
    """Return the part of a page that a filter chooses in that of the one before it, "" if none can."""
    if name not in _PARTS or not text:
        return ""
    part = _PARTS[name] + (".".join(text.split()) if name == "element-by-class" else text)
    if not before:
        return part
    are_plain = all(each.startswith("css:") and "," not in each for each in (part, *before))
    return f"{before[0]} {part.removeprefix('css:')}" if are_plain else ""


def _filters(raw_filters: object) -> Iterator[tuple[str, object]]:
    """Yield the filters of a job with what each looks for, in any of the forms that urlwatch has had."""
    steps = (
        raw_filters
        if isinstance(raw_filters, list)
        else raw_filters.split(",")
        if isinstance(raw_filters, str)
        else []
    )
    for step in steps:
        if isinstance(step, str):
            name, _colon, value = step.strip().partition(":")
            yield name.strip(), value.strip()
        elif isinstance(step, Mapping) and len(step) == 1:
            ((name, value),) = step.items()
            yield str(name), _value(value)


def _value(value: object) -> object:
    """Return what a filter looks for: given alone, or as the only thing that matters of several."""
    if not isinstance(value, Mapping):
        return value
    names = ("selector", "path", "query", "text", "re")
    texts = [value[name] for name in names if isinstance(value.get(name), str)]
    return texts[0] if len(texts) == 1 and len(value) == 1 else None


def _is_usable(check: Any, value: str) -> bool:
    try:
        check(value)
    except (SelectorFault, PatternError, ValueError):
        return False
    return True
