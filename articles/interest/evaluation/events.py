"""Logs of impressions and clicks: JSON Lines in order of time, as described in docs/interest.md.

Logs come from many sources, so field names are accepted in many spellings. A line that is not understood is
refused with its number; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from articles.interest.facts import Facts, TitleWords, named, text_of, time_of
from crawler.text.gzipped import DAMAGED, unpacked

MAX_LINE_BYTES = 1_000_000
MAX_EVENTS = 5_000_000

AT = ("at", "ts", "time", "timestamp", "datetime", "date", "t")
SUBSCRIBER = ("subscriber", "user", "subscriber_id", "user_id", "userid", "uid", "reader")
EVENT = ("event", "type", "kind", "action", "event_type")
ARTICLE = ("article", "item", "article_id", "item_id", "document", "doc", "id", "url")
ARTICLES = ("articles", "items", "impressions", "candidates", "shown")
LIST = ("list", "session", "list_id", "session_id", "impression_id", "request")
CLICKED = ("clicked", "clicks", "click", "label", "opened")
YES = (True, 1, "1", "true")

KINDS: Mapping[str, tuple[str, ...]] = {
    "shown": ("impression", "impressions", "shown", "show", "display", "displayed", "exposure", "seen"),
    "opened": ("click", "clicked", "opened", "open", "read", "view", "viewed", "visit"),
    "more": ("more", "more-like-this", "like", "liked", "upvote", "thumbs-up"),
    "less": ("less", "less-like-this", "dislike", "disliked", "downvote", "thumbs-down"),
    "hidden": ("hide", "hidden", "dismiss", "dismissed"),
    "saved": ("save", "saved", "star", "starred", "bookmark", "bookmarked"),
    "article": ("article", "item", "metadata", "publish", "published"),
}
"""The kinds of the model and what logs call them; lines of `article` only tell of an article."""
_KIND = {word: kind for kind, words in KINDS.items() for word in words}


class EventsError(ValueError):
    """Error of an unusable log, with the line at fault where known."""


@dataclass(frozen=True, slots=True)
class LoggedAction:
    """An event: `at` in epoch seconds; `list` names the list that an impression belongs to, if given."""

    at: float
    subscriber: str
    kind: str
    article: str
    list: str = ""


@dataclass(slots=True)
class Log:
    """Events as logged and their articles; `late` counts events earlier than the event logged before them."""

    name: str
    events: list[LoggedAction] = field(default_factory=list)
    articles: dict[str, Facts] = field(default_factory=dict)
    late: int = 0

    def add(self, event: LoggedAction) -> None:
        """Append an event. Raises EventsError beyond MAX_EVENTS."""
        if len(self.events) >= MAX_EVENTS:
            raise EventsError(f"{self.name}: more than {MAX_EVENTS:,} events")
        if self.events and event.at < self.events[-1].at:
            self.late += 1
        self.events.append(event)

    def ordered(self) -> list[LoggedAction]:
        """Return the events by time. At equal times impressions come first, other events as logged."""
        return sorted(self.events, key=lambda event: (event.at, event.kind != "shown"))


def read_events(path: Path) -> Log:
    """Read a .jsonl or .jsonl.gz file. Raises EventsError that names the line, OSError when the file cannot
    be read.
    """
    with path.open("rb") as file:
        return parse_events(path.name, file)


def parse_events(name: str, file: BinaryIO) -> Log:
    """Parse a log from an open file, compressed or not. Raises EventsError."""
    try:
        return log_of(name, _lines(name, unpacked(file)))
    except DAMAGED as error:
        raise EventsError(f"{name}: damaged gzip: {error}") from error


def log_of(name: str, lines: Iterable[tuple[int, bytes]]) -> Log:
    """Parse numbered lines. Raises EventsError for a line that is not understood, or for no events."""
    log, words = Log(name), TitleWords()
    for number, line in lines:
        try:
            _take(log, words, _object(line))
        except EventsError:
            raise
        except ValueError as error:
            raise EventsError(f"{name}, line {number}: {error}") from error
    if not log.events:
        raise EventsError(f"{name}: no events")
    return log


def _lines(name: str, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    # A line without an end must not fill the memory.
    read = partial(file.readline, MAX_LINE_BYTES + 1)
    for number, line in enumerate(iter(read, b""), start=1):
        if len(line) > MAX_LINE_BYTES:
            raise EventsError(f"{name}, line {number}: longer than {MAX_LINE_BYTES:,} bytes")
        if line.strip():
            yield number, line


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        record = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    return {key.casefold().replace("-", "_"): value for key, value in record.items()}


def _take(log: Log, words: TitleWords, line: Mapping[str, Any]) -> None:
    """Add the events of a line, and its facts about articles."""
    kind = _kind(line)
    articles = _articles(log, words, line)
    if kind == "article":
        return
    at, subscriber = time_of(AT, line), text_of(SUBSCRIBER, line)
    shown_in = text_of(LIST, line, missing="")
    for article in articles:
        log.add(LoggedAction(at, subscriber, kind, article, shown_in))
    if kind == "shown":
        for article in _clicked(line, articles):
            log.add(LoggedAction(at, subscriber, "opened", article, shown_in))


def _kind(line: Mapping[str, Any]) -> str:
    event_name = named(EVENT, line)
    if event_name is None and (named(CLICKED, line) is not None or isinstance(named(ARTICLES, line), list)):
        return "shown"
    if not isinstance(event_name, str):
        raise ValueError("no event (such as impression, click, more, less, hide, save)")
    kind = _KIND.get(event_name.strip().casefold().replace("_", "-").replace(" ", "-"))
    if kind is None:
        known_kinds = ", ".join(words[0] for words in KINDS.values())
        raise ValueError(
            f"unknown event {event_name[:40]!r}; known are {known_kinds}, and other words for them"
        )
    return kind


def _articles(log: Log, words: TitleWords, line: Mapping[str, Any]) -> list[str]:
    """Return the keys of the line's articles, and store the line's facts about them."""
    listed = named(ARTICLES, line)
    several = listed if isinstance(listed, list) else None
    if several is not None:
        return list(dict.fromkeys(_article(log, words, each, {}) for each in several))
    return [_article(log, words, named(ARTICLE, line), line)]


def _article(log: Log, words: TitleWords, reference: object, line: Mapping[str, Any]) -> str:
    about = {**line, **reference} if isinstance(reference, dict) else line
    key = (
        text_of(ARTICLE, reference)
        if isinstance(reference, dict)
        else text_of(ARTICLE, {ARTICLE[0]: reference})
    )
    log.articles.setdefault(key, Facts()).fill(about, words)
    return key


def _clicked(line: Mapping[str, Any], articles: list[str]) -> list[str]:
    """Return the clicked articles of a line of impressions: all (true), the listed ones, or those marked as
    clicked.

    Raises ValueError for a listed article that was not shown.
    """
    clicks = named(CLICKED, line)
    if isinstance(clicks, list):
        clicked_keys = {str(entry) for entry in clicks}
        if strangers := clicked_keys - set(articles):
            raise ValueError(f"clicked {sorted(strangers)[0][:40]!r} is none of the articles shown")
        return [article for article in articles if article in clicked_keys]
    if clicks is not None:
        return articles if clicks in YES else []
    several = named(ARTICLES, line)
    described = [entry for entry in several if isinstance(entry, dict)] if isinstance(several, list) else []
    clicked_keys = {text_of(ARTICLE, entry) for entry in described if named(CLICKED, entry) in YES}
    return [article for article in articles if article in clicked_keys]
