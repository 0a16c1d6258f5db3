"""Logs of impressions and clicks: JSON Lines in order of time, as docs/interest.md describes them.

Logs come from many hands, so names are taken in many spellings; what cannot be understood is refused with its
line, and nothing is guessed.
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

LONGEST_LINE = 1_000_000
MOST_EVENTS = 5_000_000

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
    """A log that cannot be used, with the line that is to blame."""


@dataclass(frozen=True, slots=True)
class Logged:
    """One event: `at` in epoch seconds; `list` names the list that an impression belongs to, if given."""

    at: float
    subscriber: str
    kind: str
    article: str
    list: str = ""


@dataclass(slots=True)
class Log:
    """Events as logged and the articles they are about; `late` ones were earlier than the one before."""

    name: str
    events: list[Logged] = field(default_factory=list)
    articles: dict[str, Facts] = field(default_factory=dict)
    late: int = 0

    def add(self, event: Logged) -> None:
        """Append one event. Raises EventsError beyond MOST_EVENTS."""
        if len(self.events) >= MOST_EVENTS:
            raise EventsError(f"{self.name}: more than {MOST_EVENTS:,} events")
        if self.events and event.at < self.events[-1].at:
            self.late += 1
        self.events.append(event)

    def ordered(self) -> list[Logged]:
        """By time; at one time impressions come before what was done with them, else as logged."""
        return sorted(self.events, key=lambda event: (event.at, event.kind != "shown"))


def read_events(path: Path) -> Log:
    """A .jsonl or .jsonl.gz file. Raises EventsError that names the line, OSError when it cannot be read."""
    with path.open("rb") as file:
        return parse_events(path.name, file)


def parse_events(name: str, file: BinaryIO) -> Log:
    """The same from an open file, compressed or not."""
    try:
        return log_of(name, _lines(name, unpacked(file)))
    except DAMAGED as error:
        raise EventsError(f"{name}: damaged gzip: {error}") from error


def log_of(name: str, lines: Iterable[tuple[int, bytes]]) -> Log:
    """From numbered lines. Raises EventsError for one that is not understood, or for no events."""
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
    read = partial(file.readline, LONGEST_LINE + 1)
    for number, line in enumerate(iter(read, b""), start=1):
        if len(line) > LONGEST_LINE:
            raise EventsError(f"{name}, line {number}: longer than {LONGEST_LINE:,} bytes")
        if line.strip():
            yield number, line


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        found = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    return {key.casefold().replace("-", "_"): value for key, value in found.items()}


def _take(log: Log, words: TitleWords, line: Mapping[str, Any]) -> None:
    """Add one line's events and what it tells of its articles."""
    kind = _kind(line)
    articles = _articles(log, words, line)
    if kind == "article":
        return
    at, subscriber = time_of(AT, line), text_of(SUBSCRIBER, line)
    shown_in = text_of(LIST, line, missing="")
    for article in articles:
        log.add(Logged(at, subscriber, kind, article, shown_in))
    if kind == "shown":
        for article in _clicked(line, articles):
            log.add(Logged(at, subscriber, "opened", article, shown_in))


def _kind(line: Mapping[str, Any]) -> str:
    given = named(EVENT, line)
    if given is None and (named(CLICKED, line) is not None or isinstance(named(ARTICLES, line), list)):
        return "shown"
    if not isinstance(given, str):
        raise ValueError("no event (such as impression, click, more, less, hide, save)")
    kind = _KIND.get(given.strip().casefold().replace("_", "-").replace(" ", "-"))
    if kind is None:
        known = ", ".join(words[0] for words in KINDS.values())
        raise ValueError(f"unknown event {given[:40]!r}; known are {known}, and other words for them")
    return kind


def _articles(log: Log, words: TitleWords, line: Mapping[str, Any]) -> list[str]:
    """The keys of the line's articles, of which what it says is kept."""
    given = named(ARTICLES, line)
    several = given if isinstance(given, list) else None
    if several is not None:
        return list(dict.fromkeys(_article(log, words, each, {}) for each in several))
    return [_article(log, words, named(ARTICLE, line), line)]


def _article(log: Log, words: TitleWords, given: object, line: Mapping[str, Any]) -> str:
    about = {**line, **given} if isinstance(given, dict) else line
    key = text_of(ARTICLE, given) if isinstance(given, dict) else text_of(ARTICLE, {ARTICLE[0]: given})
    log.articles.setdefault(key, Facts()).fill(about, words)
    return key


def _clicked(line: Mapping[str, Any], articles: list[str]) -> list[str]:
    """Which of a line of impressions were clicked: all (true), those listed, or those that say so."""
    given = named(CLICKED, line)
    if isinstance(given, list):
        wanted = {str(each) for each in given}
        if strangers := wanted - set(articles):
            raise ValueError(f"clicked {sorted(strangers)[0][:40]!r} is none of the articles shown")
        return [article for article in articles if article in wanted]
    if given is not None:
        return articles if given in YES else []
    several = named(ARTICLES, line)
    described = [each for each in several if isinstance(each, dict)] if isinstance(several, list) else []
    wanted = {text_of(ARTICLE, each) for each in described if named(CLICKED, each) in YES}
    return [article for article in articles if article in wanted]
