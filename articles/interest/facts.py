"""What a log says of an article, read from the fields that logs have for it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from articles.interest.features import Keyword, features_of_article

FEED = ("feed", "feed_id", "source", "publisher", "site")
CATEGORY = ("category", "categories", "section", "topic", "topics")
AUTHOR = ("author", "authors", "creator", "byline")
KEYWORDS = ("keywords", "terms", "tags")
TITLE = ("title", "headline")
PUBLISHED = ("published", "published_at", "pubdate", "pub_date", "date_published", "publication_date")

LONGEST = 500
_MILLISECONDS = 1e11  # in seconds that is the year 5138
_WORD = re.compile(r"[^\W\d_]{3,}")


class TitleWords:
    """Weights of the words of titles, where a log has no keywords: rare words so far weigh more."""

    def __init__(self) -> None:
        self._titles = 0
        self._with: Counter[str] = Counter()

    def keywords(self, title: str) -> list[Keyword]:
        """Each word once with log(1 + titles / titles with it), this title counted."""
        words = list(dict.fromkeys(_WORD.findall(title.casefold())))
        self._titles += 1
        self._with.update(words)
        return [(word, math.log1p(self._titles / self._with[word])) for word in words]


@dataclass(slots=True)
class Facts:
    """What is known of one article. Later lines add what is missing and change nothing."""

    feed: str = ""
    categories: list[str] = field(default_factory=list)
    author: str = ""
    keywords: list[Keyword] = field(default_factory=list)
    title_words: list[Keyword] = field(default_factory=list)
    published: float | None = None

    def fill(self, line: Mapping[str, Any], words: TitleWords) -> None:
        """Take what a line says. Raises ValueError for a field of the wrong shape."""
        self.feed = self.feed or text_of(FEED, line, missing="")
        self.categories = self.categories or _texts(CATEGORY, line)
        self.author = self.author or ", ".join(_texts(AUTHOR, line))
        if not self.keywords:
            self.keywords = keywords_of(named(KEYWORDS, line))
        if not self.keywords and not self.title_words and (title := text_of(TITLE, line, missing="")):
            self.title_words = words.keywords(title)
        if self.published is None and named(PUBLISHED, line) is not None:
            self.published = time_of(PUBLISHED, line)

    def features(self) -> dict[str, float]:
        """As the model sees the article."""
        return features_of_article(
            feed=self.feed,
            categories=self.categories,
            author=self.author,
            keywords=self.keywords or self.title_words,
        )


def named(names: Sequence[str], line: Mapping[str, Any]) -> Any:
    """The first of these fields that has a value."""
    return next((line[name] for name in names if line.get(name) not in (None, "")), None)


def text_of(names: Sequence[str], line: Mapping[str, Any], missing: str | None = None) -> str:
    """A string or whole number as text, `missing` where there is none. Raises ValueError without that."""
    value = named(names, line)
    if isinstance(value, Mapping):
        value = named(("id", "key", "name", "url"), value)
    if value is None:
        if missing is None:
            raise ValueError(f"no {names[0]}")
        return missing
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise ValueError(f"{names[0]} must be a string or a whole number")
    return str(value).strip()[:LONGEST]


def time_of(names: Sequence[str], line: Mapping[str, Any]) -> float:
    """A time in epoch seconds, from ISO 8601 (UTC without an offset), seconds or milliseconds.

    Raises ValueError.
    """
    value = named(names, line)
    if value is None:
        raise ValueError(f"no {names[0]}")
    seconds = _seconds(value)
    if seconds is None or not math.isfinite(seconds) or abs(seconds) > 1000 * _MILLISECONDS:
        raise ValueError(f"{names[0]} {str(value)[:40]!r} is no time (ISO 8601 or seconds since 1970)")
    return seconds / 1000 if abs(seconds) > _MILLISECONDS else seconds


def _seconds(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str):
        return None
    try:
        return float(value)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(value.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def keywords_of(given: object) -> list[Keyword]:
    """Terms with weights from [[term, weight], ...], [term, ...], {term: weight} or "term, term".

    A bare term weighs 1. Raises ValueError for anything else.
    """
    if isinstance(given, Mapping):
        given = list(given.items())
    if isinstance(given, str):
        given = given.split(",")
    if given is not None and not isinstance(given, list):
        raise ValueError("a list was expected")
    return [_keyword(each) for each in given or ()]


def _keyword(each: object) -> Keyword:
    if isinstance(each, Mapping):
        each = (named(("term", "keyword", "name", "word"), each), each.get("weight", each.get("score", 1.0)))
    if isinstance(each, str):
        return (each, 1.0)
    if isinstance(each, list | tuple) and len(each) == 2:
        term, weight = each
        if isinstance(term, str) and isinstance(weight, int | float) and not isinstance(weight, bool):
            return (term, float(weight))
    raise ValueError("keywords must be terms, or pairs of a term and its weight")


def _texts(names: Sequence[str], line: Mapping[str, Any]) -> list[str]:
    """One text or a list of them."""
    given = named(names, line)
    values = given if isinstance(given, list) else [given]
    return [text for text in (text_of(names, {names[0]: value}, missing="") for value in values) if text]
