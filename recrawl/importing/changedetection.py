"""Watches in a backup of changedetection.io, or in a list of addresses. Pure.

A backup is a ZIP file: up to version 0.49 with `url-watches.json`, later with a `watch.json` in the directory
of each watch and a `tag.json` in that of each tag. `url-watches.json` alone is read as well, and so are the
jobs of urlwatch and webchanges, and a text with one address to a line, with tags behind it.
"""

from __future__ import annotations

import fnmatch
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO

from crawler.fetching.http.urls import origin
from crawler.reading.lines import SelectorFault, usable_selector
from crawler.reading.parts import DATA, MARKUP, check_part
from crawler.text.marking import gettext_noop
from crawler.text.patterns import MOST, PatternError, compiled
from crawler.text.reasons import Reason
from recrawl.importing.browser_steps import steps_of_lines
from recrawl.importing.urlwatch import is_urlwatch, jobs_of

MAX_WATCHES = 10_000
MAX_MEMBERS = 500_000
# Backups hold every version of each page; only the small files of settings are unpacked.
MAX_UNPACKED_BYTES = 48 * 1024 * 1024
_UNITS = {"weeks": 7.0, "days": 1.0, "hours": 1 / 24, "minutes": 1 / 1440, "seconds": 1 / 86_400}
_SOURCE = "source:"
# Watches there may be seconds apart; the least here is an hour.
_MIN_DAYS, _MAX_DAYS = 1 / 24, 366.0
_NOTHING = {"", "Choose one", "Goto site"}
_STEPS: dict[str, Callable[[str, str], str]] = {
    "Click element": lambda at, _text: f"click {at}",
    "Enter text in field": lambda at, text: f"type {at} = {text}",
    "Scroll down": lambda _at, _text: "scroll",
    "Wait for seconds": lambda _at, text: f"wait {text}",
}
# jqraw differs from jq only in how the result is printed.
_PARTS = {"xpath:": "xpath:", "xpath1:": "xpath:", "json:": "jsonpath:", "jq:": "jq:", "jqraw:": "jq:"}
_UNKNOWN = {
    "text_should_not_be_present": gettext_noop("a text that must be absent"),
    "extract_text": gettext_noop("the extraction of text"),
    "extract_lines_containing": gettext_noop("the extraction of text"),
    "strip_ignored_lines": gettext_noop("the removal of ignored lines"),
    "llm_intent": gettext_noop("what it asks a language model"),
    "llm_change_summary": gettext_noop("what it asks a language model"),
    "link_to_open": gettext_noop("the other address that its link opens"),
    "conditions": gettext_noop("its conditions"),
    "headers": gettext_noop("its request headers"),
    "webdriver_js_execute_code": gettext_noop("its script"),
    "check_unique_lines": gettext_noop("that only lines count which were never there before"),
    "sort_text_alphabetically": gettext_noop("the sorting of lines"),
    "remove_duplicate_lines": gettext_noop("the removal of repeated lines"),
    "webdriver_delay": gettext_noop("its wait after loading"),
    "ignore_status_codes": gettext_noop("that failing answers count as content"),
    "proxy": gettext_noop("its proxy"),
    "body": gettext_noop("the content of its request"),
    "notification_urls": gettext_noop("where its messages go"),
    "notification_title": gettext_noop("the title of its messages"),
    "notification_body": gettext_noop("the text of its messages"),
    "notification_muted": gettext_noop("that its messages are muted"),
}
"""Settings of a watch that Freshet does not have, with their names in sentences."""


_GLOBAL = {
    "subtractive_selectors": "global_subtractive_selectors",
    "ignore_text": "global_ignore_text",
}
"""Rules of a watch, and the names of those for all watches."""
_UNKNOWN_GLOBAL = {
    "notification_urls": gettext_noop("where messages of all watches go"),
    "strip_ignored_lines": gettext_noop("the removal of ignored lines"),
    "render_anchor_tag_content": gettext_noop("the addresses of links as text"),
}
_OF_GROUPS = ("include_filters", "subtractive_selectors", "ignore_text", "trigger_text", "extract_text",
              "extract_lines_containing", "text_should_not_be_present")  # fmt: skip
"""Rules that a watch has beside those of each of its tags."""
_INHERITED = ("notification_urls", "notification_title", "notification_body", "llm_intent",
              "llm_change_summary")  # fmt: skip
"""Settings that a watch without its own has from its tags."""
_OWN_FILES = {"restock_diff.json": "restock_diff", "image_ssim_diff.json": "image_ssim_diff"}
"""Files beside `watch.json` with settings of its kind of comparison, and the names under which they lie."""
_READ = frozenset({"url-watches.json", "changedetection.json", "watch.json", "tag.json", *_OWN_FILES})


class BackupError(ValueError):
    """A file that is no backup and no list of addresses, with the reason."""


@dataclass(frozen=True, slots=True)
class ForeignWatch:
    """A watch as another program kept it.

    `settings` are fields of a site; `lost` names what could not be taken over; `title` is the user's own.
    `refused` is a sentence that says why nothing of it is, "" for a page.
    """

    url: str
    title: str = ""
    tags: tuple[str, ...] = ()
    is_paused: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    refused: str = ""


def watches_of(file: BinaryIO) -> list[ForeignWatch]:
    """Return the watches of a backup or a list of addresses, read from its beginning. Raises BackupError."""
    # By the bytes: browsers name an upload as they like.
    if file.read(2) == b"PK":
        watches = _of_archive(file)
    else:
        file.seek(0)
        data = file.read(MAX_UNPACKED_BYTES + 1)
        if len(data) > MAX_UNPACKED_BYTES:
            raise BackupError(gettext_noop("This file is too large."))
        watches = _of_text(data)
    if not watches:
        raise BackupError(gettext_noop("There is no watch in this file."))
    _check_number(len(watches))
    return watches


def _check_number(watches: int) -> None:
    """Raise BackupError for more watches than one file may have."""
    if watches > MAX_WATCHES:
        raise BackupError(
            Reason("There are {0} watches in this file; {1} are allowed.", watches, MAX_WATCHES)
        )


def _of_text(data: bytes) -> list[ForeignWatch]:
    if data.lstrip()[:1] in (b"{", b"["):
        return _of_state(_decoded(data))
    if is_urlwatch(text := _text(data)):
        return _of_jobs(text)
    # Counted before any is read: 48 MB of short lines would be some GB of watches.
    _check_number(sum(1 for line in io.BytesIO(data) if line.strip()))
    return [_of_line(line) for line in _text(data).splitlines() if line.strip()]


def _of_jobs(text: str) -> list[ForeignWatch]:
    """Return the pages of a file of urlwatch or webchanges, and its commands as what is refused."""
    try:
        jobs = list(jobs_of(text))
    except ValueError as error:
        raise BackupError(gettext_noop("The YAML in this file is damaged.")) from error
    return [
        ForeignWatch(
            job.url or job.command,
            job.title,
            job.tags,
            job.is_paused,
            job.settings,
            tuple(job.lost),
            "" if job.url else gettext_noop("This job runs a program, and Freshet runs none."),
        )
        for job in jobs
        if job.url or job.command
    ]


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BackupError(gettext_noop("This is neither a backup nor a list of addresses.")) from error
    if "\0" in text:
        raise BackupError(gettext_noop("This is neither a backup nor a list of addresses."))
    return text


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(_text(data))
    except (ValueError, RecursionError) as error:
        raise BackupError(gettext_noop("The JSON in this file is damaged.")) from error
    if not isinstance(value, dict):
        raise BackupError(gettext_noop("This is JSON, but not that of changedetection.io."))
    return value


def _of_line(line: str) -> ForeignWatch:
    """Return the watch of a line: an address, then tags separated by commas."""
    url, _, tags = line.strip().partition(" ")
    words = (word.strip(" '\"") for word in tags.strip().strip("[]").split(","))
    return ForeignWatch(url, tags=tuple(word[:200] for word in words if word))


def _of_archive(file: BinaryIO) -> list[ForeignWatch]:
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise BackupError(gettext_noop("There are too many files in this backup."))
            return _of_state(_state(archive, members))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BackupError(gettext_noop("This ZIP file is damaged, or encrypted.")) from error


def _state(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> dict[str, Any]:
    """Return the state in a backup, in the form that `url-watches.json` has."""
    remaining_bytes = MAX_UNPACKED_BYTES
    state: dict[str, Any] = {}
    watching: dict[str, Any] = {}
    tags: dict[str, Any] = {}
    own: dict[str, dict[str, Any]] = {}
    for member in members:
        directory, _, name = member.filename.rpartition("/")
        if name not in _READ:
            continue
        with archive.open(member) as file:
            # One byte more than is left tells that it is too large; the size in the ZIP's directory may lie.
            content = file.read(remaining_bytes + 1)
        remaining_bytes -= len(content)
        if remaining_bytes < 0:
            raise BackupError(gettext_noop("This file is too large."))
        value = _decoded(content)
        if name == "watch.json":
            watching[directory] = value
        elif name in _OWN_FILES:
            own.setdefault(directory.rpartition("/")[2], {})[f"processor_config_{_OWN_FILES[name]}"] = (
                _mapping(value, _OWN_FILES[name]) or value
            )
        elif name == "tag.json":
            tags[directory.rpartition("/")[2]] = value
        else:
            # The newer file wins, wherever it stands in the archive.
            state = {**value, **state} if name == "changedetection.json" else {**state, **value}
    if not watching and not state:
        raise BackupError(gettext_noop("There is no watch in this file."))
    watching = {**_mapping(state, "watching"), **watching}
    for directory, row in watching.items():
        key = directory.rpartition("/")[2]
        if key in own and isinstance(row, dict):
            watching[directory] = row | own[key]
    return state | {"watching": watching, "tags": tags}


def _of_state(state: dict[str, Any]) -> list[ForeignWatch]:
    settings = _mapping(state, "settings")
    application, requests = _mapping(settings, "application"), _mapping(settings, "requests")
    groups = {
        key: tag
        for key, tag in {**_mapping(application, "tags"), **_mapping(state, "tags")}.items()
        if isinstance(tag, dict)
    }
    usual = _Usual(
        {key: _string(tag, "title") for key, tag in groups.items()},
        _days(requests.get("time_between_check")),
        _string(application, "fetch_backend"),
        groups,
        {key: {name: _strings(tag, name) for name in _OF_GROUPS} for key, tag in groups.items()},
        {name: _strings(application, foreign) for name, foreign in _GLOBAL.items()},
        _lost_of_all(settings, application, requests),
        application.get("all_paused") is True,
        _mapping(requests, "time_schedule_limit").get("enabled") is True,
        bool(application.get("webdriver_delay")),
    )
    rows = _mapping(state, "watching").values()
    _check_number(len(rows))
    return [_watch(row, usual) for row in rows if isinstance(row, dict) and _string(row, "url")]


def _lost_of_all(
    settings: dict[str, Any], application: dict[str, Any], requests: dict[str, Any]
) -> tuple[str, ...]:
    """Return the names of the settings for all watches that Freshet does not have."""
    lost = [words for name, words in _UNKNOWN_GLOBAL.items() if application.get(name)]
    if settings.get("headers"):
        lost.append(_UNKNOWN["headers"])
    if requests.get("proxy"):
        lost.append(_UNKNOWN["proxy"])
    if application.get("ignore_status_codes"):
        lost.append(_UNKNOWN["ignore_status_codes"])
    return tuple(lost)


@dataclass(frozen=True, slots=True)
class _Usual:
    """The names of tags by key, and the settings of watches that have none of their own.

    `groups` are the tags by key, and `rules` those of each tag by name. `filters` are the rules for all
    watches by the names that watches have for them, and `lost` names the settings for all that are unknown.
    """

    titles: dict[str, str]
    every: float | None
    backend: str
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    rules: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    filters: dict[str, list[str]] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    all_paused: bool = False
    has_hours: bool = False
    waits: bool = False

    def keys_of(self, row: dict[str, Any]) -> list[str]:
        """Return the keys of a watch's tags: those it was given, then those whose pattern its address has."""
        tags = row.get("tags")
        keys = [key for key in tags if isinstance(key, str)] if isinstance(tags, list) else []
        url = _string(row, "url")
        return keys + [
            key
            for key, tag in self.groups.items()
            if key not in keys and _has_pattern(_string(tag, "url_match_pattern").strip(), url)
        ]

    def applied(self, row: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return a watch with its tags, their settings, and the rules for all; and names of what is lost.

        Rules of tags stand beside those of the watch, MOST of a kind at most: 3,000 rules in a tag of 300
        watches took a minute of checking, as those of each watch. How prices are followed is said by the
        first tag that overrides watches.
        """
        keys = self.keys_of(row)
        tags = [self.groups[key] for key in keys if key in self.groups]
        settings: dict[str, Any] = {"tags": keys} if keys else {}
        lost: list[str] = []
        for name in _OF_GROUPS:
            inherited = [self.rules[key][name] for key in keys if key in self.rules]
            lists = [_strings(row, name), *inherited, self.filters.get(name, [])]
            # One more than fit from each list tells that there are more.
            rules = list(dict.fromkeys(chain.from_iterable(rules[: MOST + 1] for rules in lists)))
            if len(rules) > MOST:
                lost.append(Reason("its rules beyond the first {0} of a kind", MOST))
            if rules:
                settings[name] = rules[:MOST]
        for name in _INHERITED:
            values = [tag[name] for tag in tags if tag.get(name)]
            if values and not row.get(name):
                settings[name] = values[0]
        for tag in tags:
            if tag.get("overrides_watch") is True:
                settings["processor_config_restock_diff"] = _prices(tag)
                break
        return row | settings, lost


def _has_pattern(pattern: str, url: str) -> bool:
    """Return whether the pattern of a tag, with wildcards or without, is that of an address."""
    pattern, url = pattern.lower(), url.lower()
    if any(sign in pattern for sign in "*?["):
        return fnmatch.fnmatchcase(url, pattern)
    return bool(pattern) and pattern in url


def _prices(row: dict[str, Any]) -> dict[str, Any]:
    """Return how a watch or a tag follows prices, in the place where any version kept it."""
    return _mapping(row, "processor_config_restock_diff") or _mapping(row, "restock_settings")


def _watch(row: dict[str, Any], usual: _Usual) -> ForeignWatch:
    row, lost = usual.applied(row)
    # Named and not dropped: a watch that reports something else than before would go unnoticed.
    lost += [words for name, words in _UNKNOWN.items() if row.get(name)]
    lost += usual.lost
    is_usual_time = bool(row.get("time_between_check_use_default"))
    if usual.has_hours if is_usual_time else _mapping(row, "time_schedule_limit").get("enabled") is True:
        lost.append(gettext_noop("its hours and days of the week"))
    if re.search(r"\{[{%]", _string(row, "url")):
        lost.append(gettext_noop("the template in its address"))
    settings: dict[str, Any] = {}
    own_time = None if is_usual_time else _days(row.get("time_between_check"))
    every = own_time or usual.every
    if every is not None:
        settings["every"] = min(max(every, _MIN_DAYS), _MAX_DAYS)
        if every < _MIN_DAYS:
            lost.append(gettext_noop("its interval of less than an hour"))
    settings["parts"] = list(_checked(map(_part, _strings(row, "include_filters")), check_part, lost))
    removed = _strings(row, "subtractive_selectors")
    settings["ignore_selectors"] = list(_checked(removed, usable_selector, lost))
    for name, foreign in (("ignore_patterns", "ignore_text"), ("trigger_patterns", "trigger_text")):
        settings[name] = list(_checked(_patterns(_strings(row, foreign), lost), compiled, lost))
    settings["direction"] = _direction(row)
    backend = _string(row, "fetch_backend")
    backend = usual.backend if backend in {"", "system"} else backend
    # Any other name there is a browser of the user's own.
    settings["browser"] = backend not in {"", "system", "html_requests"}
    settings["steps"] = _steps(row, lost)
    settings["browser"] |= bool(settings["steps"])
    if usual.waits and settings["browser"]:
        lost.append(_UNKNOWN["webdriver_delay"])
    url = _string(row, "url").strip()
    if url.lower().startswith(_SOURCE):
        url = url[len(_SOURCE) :].strip()
        settings["compared"] = MARKUP
    if "#" in _string(row, "url") and not settings["browser"]:
        lost.append(gettext_noop("the part of its address behind #, which only a browser heeds"))
    _add_processor(row, settings, lost)
    if _string(row, "method").upper() not in {"", "GET"}:
        lost.append(gettext_noop("its request method"))
    return ForeignWatch(
        url=url,
        title=_string(row, "title").strip()[:500],
        tags=tuple(_tags(row, usual.titles)),
        is_paused=row.get("paused") is True or usual.all_paused,
        settings={name: value for name, value in settings.items() if value or name == "number"},
        lost=tuple(dict.fromkeys(lost)),
    )


def _add_processor(row: dict[str, Any], settings: dict[str, Any], lost: list[str]) -> None:
    """Set what a watch of prices, or of a picture, reports."""
    processor = _string(row, "processor")
    if processor.startswith("image"):
        rules = _mapping(row, "processor_config_image_ssim_diff")
        percent = _number(rules, "min_change_percentage") or 1.0
        settings["browser"], settings["visual_percent"] = True, min(max(percent, 0.0), 100.0)
        if rules.get("bounding_box"):
            lost.append(gettext_noop("the chosen region of its picture"))
    elif processor.startswith("restock"):
        _add_price(_prices(row) or row, settings, lost)
    elif row.get("track_ldjson_price_data") == "accepted":
        settings["compared"] = DATA


def _add_price(rules: dict[str, Any], settings: dict[str, Any], lost: list[str]) -> None:
    """Set which prices a watch reports; a limit of 0 is none, as there."""
    below, above = (_number(rules, f"price_change_{limit}") or None for limit in ("min", "max"))
    percent = _number(rules, "price_change_threshold_percent")
    if below is not None:
        settings["number_rule"], settings["number"] = "below", below
    elif above is not None:
        settings["number_rule"], settings["number"] = "above", above
    else:
        settings["number_rule"], settings["number"] = "percent", percent or 0.0
    if below is not None and above is not None:
        lost.append(gettext_noop("its upper price"))
    if percent and settings["number_rule"] != "percent":
        lost.append(gettext_noop("how much its price must change"))
    if rules.get("follow_price_changes") is False:
        lost.append(gettext_noop("that changes of its price count for nothing"))
    if rules.get("in_stock_processing") != "off":
        lost.append(gettext_noop("changes of stock without a change of price"))


def _direction(row: dict[str, Any]) -> str:
    added, removed, replaced = (
        row.get(f"filter_text_{name}", True) is not False for name in ("added", "removed", "replaced")
    )
    if replaced or added == removed:
        return "any"
    return "added" if added else "removed"


def _part(expression: str) -> str:
    for prefix, ours in _PARTS.items():
        if expression.startswith(prefix):
            return ours + expression.removeprefix(prefix)
    return f"xpath:{expression}" if expression.startswith(("/", "(/")) else f"css:{expression}"


def _patterns(texts: list[str], lost: list[str]) -> Iterator[str]:
    """Yield the expressions for texts: between slashes, with flags behind them, or plain words.

    Without flags case does not matter. Those of which a dot is a line's end, too, look for more than a line,
    and are named as lost.
    """
    for text in texts:
        if match := re.fullmatch(r"/(.+)/([a-z]*)", text, re.DOTALL):
            flags = match[2] or "i"
            if "s" in flags:
                lost.append(text[:100])
            else:
                yield f"(?i){match[1]}" if "i" in flags else match[1]
        else:
            yield f"(?i){re.escape(text)}"


def _steps(row: dict[str, Any], lost: list[str]) -> list[dict[str, Any]]:
    """Return the steps in a browser. None if one is of a kind that Freshet does not have."""
    lines = []
    steps = row.get("browser_steps")
    for step in steps if isinstance(steps, list) else []:
        operation = _string(step, "operation") if isinstance(step, dict) else ""
        if operation in _NOTHING:
            continue
        if operation not in _STEPS:
            lost.append(Reason("its steps in the browser ({0})", operation[:50]))
            return []
        lines.append(_STEPS[operation](_string(step, "selector").strip(), _string(step, "optional_value")))
    try:
        return steps_of_lines(lines)
    except ValueError as error:
        lost.append(Reason("its steps in the browser ({0})", str(error)))
        return []


def _checked(values: Any, check: Callable[[str], object], lost: list[str]) -> Iterator[str]:
    """Yield the values that pass a check, and name the others as lost."""
    for value in values:
        try:
            check(value)
        except (SelectorFault, PatternError):
            lost.append(value[:100])
        else:
            yield value


def _tags(row: dict[str, Any], titles: dict[str, str]) -> Iterator[str]:
    tags = row.get("tags")
    for tag in tags if isinstance(tags, list) else [row.get("tag")]:
        if isinstance(tag, str) and (title := titles.get(tag, tag).strip()):
            yield title[:200]


def _days(value: object) -> float | None:
    """Return the days of an interval given in weeks, days, hours, minutes and seconds, None without one."""
    if not isinstance(value, dict):
        return None
    days = sum(per * (_number(value, unit) or 0.0) for unit, per in _UNITS.items())
    return days if days > 0 else None


def _number(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    try:
        number = float(value)  # type: ignore[arg-type]
    # float() of an integer of 400 digits overflows.
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < 1e12 and not isinstance(value, bool) else None


def _mapping(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def _string(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value.replace("\0", "") if isinstance(value, str) else ""


def _strings(row: Mapping[str, Any], name: str) -> list[str]:
    value = row.get(name)
    values = value if isinstance(value, list) else []
    texts = (item.strip().replace("\0", "") for item in values if isinstance(item, str))
    return list(dict.fromkeys(text for text in texts if text))


def name_of(watch: ForeignWatch) -> str:
    """Return a name for the list of a watch: its tags, else its own title, else its host."""
    try:
        host = origin(watch.url).partition("//")[2]
    except ValueError:
        host = ""
    return ", ".join(watch.tags) or watch.title or host
