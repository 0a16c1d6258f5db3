"""A log of impressions and clicks replayed in order of time, each list ordered by what was known before it.

A list (session) is what one subscriber was shown together: impressions of one list name, or without names
impressions no more than `LIST_GAP` apart in which no article comes twice. An opening belongs to the list
that it names, else to the last list before it that showed the article. Every ranker scores a list when its
first impression comes, and only then learns from the impressions; it learns of an opening when that comes,
which may be lists later. Lists in which nothing was opened are learned from but not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from articles.interest.baselines import Ranker, ShownArticle, rankers
from articles.interest.events import Log, Logged
from articles.interest.metrics import METRICS, Interval, intervals, measured, resampled_by
from articles.interest.model import STRENGTHS, LoggedEvent

LIST_GAP = 600.0
"""Seconds."""


@dataclass(slots=True)
class Session:
    """One list as it was shown: articles with the time of their impression, and which were opened."""

    subscriber: str
    began: float
    last: float
    articles: dict[str, float] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How each method did; `measured` sessions had an opening, `unattributed` openings had no session."""

    name: str
    events: int
    sessions: int
    measured: int
    subscribers: int
    impressions: int
    openings: int
    unattributed: int
    late: int
    resampled: str
    methods: dict[str, dict[str, Interval]]

    def as_json(self) -> dict[str, Any]:
        """The object of `manage.py evaluate_interest --json`."""
        return {**{name: value for name, value in asdict(self).items() if name != "name"}, "log": self.name}


@dataclass(slots=True)
class _Sessions:
    """Lists found in a log: by the position of their first impression, and by event."""

    first: dict[int, Session] = field(default_factory=dict)
    unattributed: int = 0


def evaluate(
    log: Log,
    *,
    seed: int = 1,
    methods: Sequence[Ranker] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Evaluation:
    """Replay the log with every method, by default all. Deterministic for a log and a seed."""
    methods = rankers() if methods is None else methods
    events = log.ordered()
    found = sessions_of(events)
    shown = _Articles(log, events)
    rows: list[list[float]] = []
    owners: list[str] = []
    had: set[tuple[str, str]] = set()
    touched: set[tuple[str, str]] = set()
    for i, event in enumerate(events):
        if progress is not None and i % 500 == 0:
            progress(i / len(events))
        session = found.first.get(i)
        if session is not None:
            if session.opened:
                rows.append(_scored(methods, session, shown, had))
                owners.append(session.subscriber)
            had.update((session.subscriber, article) for article in session.articles)
        key = (event.subscriber, event.article)
        if event.kind != "shown":
            touched.add(key)
        elif key in touched:
            continue  # shown again after it was opened: no evidence against it
        for method in methods:
            method.learn(event.subscriber, shown.event(event))
    if progress is not None:
        progress(1.0)
    return _evaluation(log, events, found, methods, rows=rows, owners=owners, seed=seed)


def sessions_of(events: Sequence[Logged]) -> _Sessions:
    """Lists with their openings, from events in order of time."""
    found = _Sessions()
    named: dict[tuple[str, str], Session] = {}
    latest: dict[str, Session] = {}
    showed: dict[tuple[str, str], Session] = {}
    for i, event in enumerate(events):
        if event.kind == "shown":
            session = (
                named.get((event.subscriber, event.list)) if event.list else latest.get(event.subscriber)
            )
            if session is None or (not event.list and _another(session, event)):
                session = Session(event.subscriber, event.at, event.at)
                found.first[i] = session
                if event.list:
                    named[event.subscriber, event.list] = session
                else:
                    latest[event.subscriber] = session
            session.last = event.at
            session.articles.setdefault(event.article, event.at)
            showed[event.subscriber, event.article] = session
        elif STRENGTHS[event.kind][0]:
            session = named.get((event.subscriber, event.list)) if event.list else None
            if session is None or event.article not in session.articles:
                session = showed.get((event.subscriber, event.article))
            if session is None:
                found.unattributed += 1
            else:
                session.opened.add(event.article)
    return found


def _another(session: Session, event: Logged) -> bool:
    """Whether an impression without a list's name begins a new list."""
    again = session.articles.get(event.article)
    return event.at - session.last > LIST_GAP or (again is not None and again < event.at)


class _Articles:
    """Features and times of a log's articles, made when first wanted."""

    def __init__(self, log: Log, events: Sequence[Logged]) -> None:
        self._log = log
        self._features: dict[str, dict[str, float]] = {}
        self._first: dict[str, float] = {}
        for event in events:
            self._first.setdefault(event.article, event.at)

    def features(self, article: str) -> dict[str, float]:
        if article not in self._features:
            self._features[article] = self._log.articles[article].features()
        return self._features[article]

    def published(self, article: str) -> float:
        """As the log says, else when it was first mentioned."""
        known = self._log.articles[article].published
        return self._first[article] if known is None else known

    def event(self, event: Logged) -> LoggedEvent:
        return LoggedEvent(
            self.features(event.article), event.kind, event.at, self._log.articles[event.article].published
        )


def _scored(
    methods: Sequence[Ranker], session: Session, shown: _Articles, had: set[tuple[str, str]]
) -> list[float]:
    """All metrics of all methods for one list."""
    # Newest first, then by name: how ties are listed must not follow the order in which the list was shown.
    articles = sorted(session.articles, key=lambda article: (-shown.published(article), article))
    rows = [
        ShownArticle(shown.features(a), shown.published(a), (session.subscriber, a) not in had)
        for a in articles
    ]
    opened = np.array([article in session.opened for article in articles])
    values: list[float] = []
    for method in methods:
        scores = np.array(method.scores(session.subscriber, rows, session.began))
        values.extend(measured(scores, opened))
    return values


def _evaluation(
    log: Log,
    events: Sequence[Logged],
    found: _Sessions,
    methods: Sequence[Ranker],
    *,
    rows: list[list[float]],
    owners: list[str],
    seed: int,
) -> Evaluation:
    width = len(METRICS)
    table = np.array(rows, dtype=np.float64).reshape(len(rows), width * len(methods))
    columns = intervals(table, owners, seed=seed)
    return Evaluation(
        name=log.name,
        events=len(events),
        sessions=len(found.first),
        measured=len(rows),
        subscribers=len({event.subscriber for event in events}),
        impressions=sum(event.kind == "shown" for event in events),
        openings=sum(event.kind == "opened" for event in events),
        unattributed=found.unattributed,
        late=log.late,
        resampled=resampled_by(owners),
        methods={
            method.name: dict(zip(METRICS, columns[k * width : (k + 1) * width], strict=True))
            for k, method in enumerate(methods)
        },
    )
