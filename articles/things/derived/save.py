"""Computation and storage of all derived graphs."""

from __future__ import annotations

from datetime import datetime

from articles.things.derived import links, mentions, names, people, stories
from articles.things.derived.weeks import last_weeks
from articles.things.gazetteer import MIN_DOCUMENTS, ORGANISATION, PERSON, Gazetteer
from crawler.pipeline.derived import last_derived, save_derived
from crawler.pipeline.index import Terms

WEEKS = 2
"""Weeks that are computed again each time: their pages and stories still change."""
HOURS = 24


def derive(now: datetime, weeks: int = WEEKS) -> dict[str, int]:
    """Compute people, organisations, and the last weeks' stories, links and mentions.

    Returns the number of statements by graph. Graphs of earlier weeks stay as they were. One graph is in
    memory at a time.
    """
    counts = {}

    def save(name: str, graph: Terms) -> None:
        save_derived({name: graph}, now)
        counts[name] = len(graph)

    organisations = names.known_names(ORGANISATION)
    known = {row.name: row for row in (*names.known_names(PERSON), *organisations)}
    gazetteer = Gazetteer([*known, *people.writers(MIN_DOCUMENTS)])
    save(names.GRAPH, names.organisations_graph(organisations))
    for week in last_weeks(now, weeks):
        save(stories.NAME.format(week=week), stories.stories_graph(week))
        save(links.NAME.format(week=week), links.links_graph(week))
        save(mentions.NAME.format(week=week), mentions.mentions_graph(week, gazetteer, known))
    save(people.NAME, people.people_graph())
    return counts


def is_due(now: datetime) -> bool:
    """Return whether a day has passed since the graphs were derived."""
    last = last_derived(people.NAME)
    return last is None or (now - last).total_seconds() > HOURS * 3600
