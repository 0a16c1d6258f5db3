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
    "data": gettext_noop("the content of its request"),
    "headers": gettext_noop("its request headers"),
    "http_proxy": gettext_noop("its proxy"),
    "https_proxy": gettext_noop("its proxy"),
    "method": gettext_noop("its request method"),
}
_PARTS = {"css": "css:", "xpath": "xpath:", "jq": "jq:", "jsonpath": "jsonpath:", "element-by-id": "css:#",
          "element-by-class": "css:.", "element-by-tag": "css:"}  # fmt: skip
_MEANS_NOTHING = {"html2text", "strip", "format-json", "beautify", "csv2text", "pdf2text"}
"""Filters that make text of a page, which is what is compared here anyway."""
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
        documents = list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("this is no YAML") from error
    for document in documents:
        for job in document if isinstance(document, list) else [document]:
            if isinstance(job, Mapping):
                yield _job(job)


def _job(job: Mapping[Any, Any]) -> tuple[str, str, dict[str, Any], list[str]]:
    url = job.get("url") or job.get("navigate") or ""
    lost = [words for name, words in SETTINGS_LOST.items() if job.get(name)]
    settings: dict[str, Any] = {}
    if job.get("navigate") or job.get("use_browser") is True:
        settings["browser"] = True
    parts, ignored = [], []
    for name, value in _filters(job.get("filter", job.get("filters"))):
        if name in _MEANS_NOTHING:
            continue
        text = value if isinstance(value, str) else ""
        if name in _PARTS and text and _is_usable(check_part, _PARTS[name] + text):
            parts.append(_PARTS[name] + text)
        elif name in {"grepi", "delete_lines_containing"} and text and _is_usable(compiled, text):
            ignored.append(text)
        else:
            lost.append(SOME_FILTERS)
    settings |= {"parts": parts} if parts else {}
    settings |= {"ignore_patterns": ignored} if ignored else {}
    called = job.get("name")
    title = called.strip()[:500] if isinstance(called, str) else ""
    return str(url).strip(), title, settings, list(dict.fromkeys(lost))


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
