"""The replay of a log of impressions and clicks, each list ranked with the knowledge before it.

A list (session) is a group of articles shown to one subscriber together: impressions of one list name, or
without names impressions no more than `LIST_GAP` apart in which no article comes twice. An opening belongs to
the list that it names, else to the last list before it that showed the article. Every ranker scores a list at
its first impression, and only then learns from the impressions; it learns from an opening at the time of the
opening, which may be lists later. Lists without an opening are learned from but not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from articles.interest.evaluation.baselines import rankers
from articles.interest.evaluation.events import Log, LoggedAction
from articles.interest.evaluation.metrics import METRICS, Interval, intervals, measured, resampled_by
from articles.interest.model import STRENGTHS, LoggedEvent
from articles.interest.ranking import Ranker, ShownArticle

LIST_GAP = 600.0
"""Seconds."""


@dataclass(slots=True)
class Session:
    """A list as it was shown: articles with the times of their impressions, and the opened articles."""

    subscriber: str
    began: float
    last: float
    articles: dict[str, float] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Results by method; `measured` sessions had an opening, `unattributed` openings had no session."""

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
        """Return the object of `manage.py evaluate_interest --json`."""
        return {**{name: value for name, value in asdict(self).items() if name != "name"}, "log": self.name}


@dataclass(slots=True)
class _Sessions:
    """Lists of a log by the position of their first impression, and the number of openings without one."""

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
    sessions = sessions_of(events)
    articles = _Articles(log, events)
    rows: list[list[float]] = []
    owners: list[str] = []
    seen_articles: set[tuple[str, str]] = set()
    touched: set[tuple[str, str]] = set()
    for i, event in enumerate(events):
        if progress is not None and i % 500 == 0:
            progress(i / len(events))
        session = sessions.first.get(i)
        if session is not None:
            if session.opened:
                rows.append(_scored(methods, session, articles, seen_articles))
                owners.append(session.subscriber)
            seen_articles.update((session.subscriber, article) for article in session.articles)
        key = (event.subscriber, event.article)
        if event.kind != "shown":
            touched.add(key)
        elif key in touched:
            continue  # shown again after it was opened: no evidence against it
        for method in methods:
            method.learn(event.subscriber, articles.event(event))
    if progress is not None:
        progress(1.0)
    return _evaluation(log, events, sessions, methods, rows=rows, owners=owners, seed=seed)


def sessions_of(events: Sequence[LoggedAction]) -> _Sessions:
    """Group events in order of time into lists with their openings."""
    sessions = _Sessions()
    by_list_name: dict[tuple[str, str], Session] = {}
    latest: dict[str, Session] = {}
    by_article: dict[tuple[str, str], Session] = {}
    for i, event in enumerate(events):
        if event.kind == "shown":
            session = (
                by_list_name.get((event.subscriber, event.list))
                if event.list
                else latest.get(event.subscriber)
            )
            if session is None or (not event.list and _starts_new_list(session, event)):
                session = Session(event.subscriber, event.at, event.at)
                sessions.first[i] = session
                if event.list:
                    by_list_name[event.subscriber, event.list] = session
                else:
                    latest[event.subscriber] = session
            session.last = event.at
            session.articles.setdefault(event.article, event.at)
            by_article[event.subscriber, event.article] = session
        elif STRENGTHS[event.kind][0]:
            session = by_list_name.get((event.subscriber, event.list)) if event.list else None
            if session is None or event.article not in session.articles:
                session = by_article.get((event.subscriber, event.article))
            if session is None:
                sessions.unattributed += 1
            else:
                session.opened.add(event.article)
    return sessions


def _starts_new_list(session: Session, event: LoggedAction) -> bool:
    """Return whether an impression without a list's name begins a new list."""
    again = session.articles.get(event.article)
    return event.at - session.last > LIST_GAP or (again is not None and again < event.at)


class _Articles:
    """Features and times of a log's articles, computed on first use."""

    def __init__(self, log: Log, events: Sequence[LoggedAction]) -> None:
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
        """Return the publication time in the log, else the time of the first mention."""
        published = self._log.articles[article].published
        return self._first[article] if published is None else published

    def event(self, event: LoggedAction) -> LoggedEvent:
        return LoggedEvent(
            self.features(event.article),
            event.kind,
            event.at,
            self._log.articles[event.article].published,
            event.article,
        )


def _scored(
    methods: Sequence[Ranker], session: Session, catalogue: _Articles, seen_articles: set[tuple[str, str]]
) -> list[float]:
    """Return all metrics of all methods for one list."""
    # Newest first, then by name: how ties are listed must not follow the order in which the list was shown.
    articles = sorted(session.articles, key=lambda article: (-catalogue.published(article), article))
    rows = [
        ShownArticle(
            catalogue.features(a), catalogue.published(a), (session.subscriber, a) not in seen_articles, a
        )
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
    events: Sequence[LoggedAction],
    sessions: _Sessions,
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
        sessions=len(sessions.first),
        measured=len(rows),
        subscribers=len({event.subscriber for event in events}),
        impressions=sum(event.kind == "shown" for event in events),
        openings=sum(event.kind == "opened" for event in events),
        unattributed=sessions.unattributed,
        late=log.late,
        resampled=resampled_by(owners),
        methods={
            method.name: dict(zip(METRICS, columns[k * width : (k + 1) * width], strict=True))
            for k, method in enumerate(methods)
        },
    )
