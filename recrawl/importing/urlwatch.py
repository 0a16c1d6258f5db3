"""Jobs of urlwatch and webchanges: the YAML file with a document for each page. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from crawler.reading.lines import SelectorFault, usable_selector
from crawler.reading.parts import check_part
from crawler.text.marking import gettext_noop
from crawler.text.patterns import PatternError, compiled

MAX_CHARACTERS = 2_000_000
"""Of a file: libyaml reads some MB in a second."""
SOME_FILTERS = gettext_noop("some of its filters")
SETTINGS_LOST = {
    "data": gettext_noop("the content of its request"),
    "headers": gettext_noop("its request headers"),
    "http_proxy": gettext_noop("its proxy"),
    "https_proxy": gettext_noop("its proxy"),
    "method": gettext_noop("its request method"),
    "cookies": gettext_noop("its cookies"),
    "user_visible_url": gettext_noop("the other address that its link opens"),
    "evaluate": gettext_noop("its script"),
    "init_script": gettext_noop("its script"),
    "initialization_js": gettext_noop("its script"),
    "wait_for": gettext_noop("its wait after loading"),
    "wait_for_function": gettext_noop("its wait after loading"),
    "wait_for_selector": gettext_noop("its wait after loading"),
    "wait_for_timeout": gettext_noop("its wait after loading"),
    "wait_for_url": gettext_noop("its wait after loading"),
    "ssl_no_verify": gettext_noop("that its certificate is not checked"),
    "ignore_https_errors": gettext_noop("that its certificate is not checked"),
    "compared_versions": gettext_noop("how its versions are compared"),
    "diff_filter": gettext_noop("how its versions are compared"),
    "diff_filters": gettext_noop("how its versions are compared"),
    "diff_tool": gettext_noop("how its versions are compared"),
    "differ": gettext_noop("how its versions are compared"),
}
"""Settings of a job that Freshet does not have, with their names in sentences."""
_PARTS = {"css": "css:", "xpath": "xpath:", "jq": "jq:", "jsonpath": "jsonpath:", "element-by-id": "css:#",
          "element-by-class": "css:.", "element-by-tag": "css:"}  # fmt: skip
_MEANS_NOTHING = {"html2text", "strip", "format-json", "beautify", "csv2text", "pdf2text"}
"""Filters that make text of a page, which is what is compared here anyway."""
_ADDRESSES = ("url", "navigate", "command")
_LIST = "tag:yaml.org,2002:seq"
_JOB = re.compile(r"^\s*(?:-\s+)?(?:url|navigate|command)\s*:", re.MULTILINE)


def is_urlwatch(text: str) -> bool:
    """Return whether a text looks like jobs of urlwatch."""
    return _JOB.search(text[:100_000]) is not None


@dataclass(slots=True)
class Job:
    """A job: its address and name, the settings of a site, and what is lost. One without an address runs a
    `command`.
    """

    url: str
    title: str
    command: str
    tags: tuple[str, ...]
    is_paused: bool
    settings: dict[str, Any] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def jobs_of(text: str) -> Iterator[Job]:
    """Yield the jobs of a file. Raises ValueError for what is no YAML."""
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
            # Built together, so that what all of them refer to by an anchor is built once.
            yield from loader.construct_document(yaml.SequenceNode(_LIST, _jobs_in(document)))


def _jobs_in(node: yaml.Node) -> list[yaml.Node]:
    """Return the jobs of a document: a field that comes again begins the next one."""
    if not isinstance(node, yaml.MappingNode):
        return [node]
    groups: list[list[tuple[yaml.Node, yaml.Node]]] = [[]]
    names: list[set[str]] = [set()]
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name and name in names[-1]:
            groups.append([])
            names.append(set())
        groups[-1].append((key, value))
        names[-1].add(name)
    if any(group.isdisjoint(_ADDRESSES) for group in names):
        return [node]
    return [yaml.MappingNode(node.tag, group) for group in groups]


def _job(job: Mapping[Any, Any]) -> Job:
    url = job.get("url") or job.get("navigate") or ""
    called, command, tags = (job.get(name) for name in ("name", "command", "tags"))
    result = Job(
        _plain(url),
        called.strip()[:500] if isinstance(called, str) else "",
        command.strip()[:500] if isinstance(command, str) else "",
        tuple(name for tag in tags if (name := _plain(tag)[:200])) if isinstance(tags, list) else (),
        job.get("enabled") is False,
        lost=[words for name, words in SETTINGS_LOST.items() if job.get(name)],
    )
    if job.get("navigate") or job.get("use_browser"):
        result.settings["browser"] = True
    if bool(job.get("additions_only")) != bool(job.get("deletions_only")):
        result.settings["direction"] = "added" if job.get("additions_only") else "removed"
    for name, value in _filters(job.get("filter", job.get("filters"))):
        if name not in _MEANS_NOTHING and not _is_taken(name, value, result.settings):
            result.lost.append(SOME_FILTERS)
    result.lost = list(dict.fromkeys(result.lost))
    return result


def _plain(value: object) -> str:
    """Return a text, a number or a date as text, "" for lists: few lines can say one of a billion texts."""
    is_list = isinstance(value, Collection) and not isinstance(value, str)
    return "" if value is None or is_list else str(value).strip()


def _is_taken(name: str, value: object, settings: dict[str, Any]) -> bool:
    """Add what a filter means to the settings, and return whether that is all of it.

    Filters look at what those before them left: a second one which chooses would choose from a part, which
    only a CSS selector after another says.
    """
    exclude = value.get("exclude") if isinstance(value, Mapping) and name == "css" else None
    if isinstance(exclude, str) and isinstance(value, Mapping):
        if not _is_usable(usable_selector, exclude):
            return False
        value = {key: setting for key, setting in value.items() if key != "exclude"}
    text = _value(value)
    if not isinstance(text, str) or not text:
        return False
    part = _part(name, text, settings.get("parts", []))
    if part and _is_usable(check_part, part):
        settings["parts"] = [part]
        if isinstance(exclude, str):
            settings.setdefault("ignore_selectors", []).append(exclude)
        return True
    if name == "delete_lines_containing" and not (isinstance(value, Mapping) and "re" in value):
        text = re.escape(text)
    if name in {"grepi", "delete_lines_containing"} and _is_usable(compiled, text):
        settings.setdefault("ignore_patterns", []).append(text)
        return True
    return False


def _part(name: str, text: str, before: list[str]) -> str:
    """Return the part of a page that a filter chooses in that of the one before it, "" if none can."""
    if name not in _PARTS:
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
            yield str(name), value


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
