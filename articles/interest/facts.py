"""The facts of an article, read from the fields of a log."""

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
    """Weights of title words for logs without keywords; words that were rare so far weigh more."""

    def __init__(self) -> None:
        self._titles = 0
        self._with: Counter[str] = Counter()

    def keywords(self, title: str) -> list[Keyword]:
        """Return each word of a title once, weighted by log(1 + titles / titles with it), this title
        included.
        """
        words = list(dict.fromkeys(_WORD.findall(title.casefold())))
        self._titles += 1
        self._with.update(words)
        return [(word, math.log1p(self._titles / self._with[word])) for word in words]


@dataclass(slots=True)
class Facts:
    """The facts of an article. Later lines fill in missing facts and change none."""

    feed: str = ""
    categories: list[str] = field(default_factory=list)
    author: str = ""
    keywords: list[Keyword] = field(default_factory=list)
    title_words: list[Keyword] = field(default_factory=list)
    published: float | None = None

    def fill(self, line: Mapping[str, Any], words: TitleWords) -> None:
        """Fill in missing facts from a line. Raises ValueError for a field of the wrong shape."""
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
        """Return the article's features for the model."""
        return features_of_article(
            feed=self.feed,
            categories=self.categories,
            author=self.author,
            keywords=self.keywords or self.title_words,
        )


def named(names: Sequence[str], line: Mapping[str, Any]) -> Any:
    """Return the value of the first of these fields that has one. Returns None when none has."""
    return next((line[name] for name in names if line.get(name) not in (None, "")), None)


def text_of(names: Sequence[str], line: Mapping[str, Any], missing: str | None = None) -> str:
    """Return a string or whole number as text. Returns `missing` when there is no value.

    Raises ValueError for another type, or for no value when `missing` is None.
    """
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
    """Parse a time into epoch seconds, from ISO 8601 (UTC without an offset), seconds or milliseconds.

    Raises ValueError for no time or an invalid one.
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


def keywords_of(value: object) -> list[Keyword]:
    """Return terms with weights from [[term, weight], ...], [term, ...], {term: weight} or "term, term".

    A bare term weighs 1. Raises ValueError for anything else.
    """
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, str):
        value = value.split(",")
    if value is not None and not isinstance(value, list):
        raise ValueError("a list was expected")
    return [_keyword(entry) for entry in value or ()]


def _keyword(entry: object) -> Keyword:
    if isinstance(entry, Mapping):
        entry = (
            named(("term", "keyword", "name", "word"), entry),
            entry.get("weight", entry.get("score", 1.0)),
        )
    if isinstance(entry, str):
        return (entry, 1.0)
    if isinstance(entry, list | tuple) and len(entry) == 2:
        term, weight = entry
        if isinstance(term, str) and isinstance(weight, int | float) and not isinstance(weight, bool):
            return (term, float(weight))
    raise ValueError("keywords must be terms, or pairs of a term and its weight")


def _texts(names: Sequence[str], line: Mapping[str, Any]) -> list[str]:
    """Return the texts of a field that holds one text or a list of texts."""
    field_value = named(names, line)
    values = field_value if isinstance(field_value, list) else [field_value]
    return [text for text in (text_of(names, {names[0]: value}, missing="") for value in values) if text]
