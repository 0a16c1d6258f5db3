"""Sentences of the overview, for the person who runs Freshet: its state, its parts, its freshness. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.site.health import OK, Health
from crawler.site.statistics import Statistics
from feeds.phrases import duration

MIN_VISITS = 20
"""Visits from which a share of them is said."""
LITTLE_ROOM = 2e9
"""Bytes below which the disk is nearly full."""


@dataclass(frozen=True, slots=True)
class PartState:
    """A part of the deployment: its name, its shape (good, warn, bad, learn), and its state in words."""

    name: str
    shape: str
    words: str


def verdict(health: Health, failing: int, free_bytes: float) -> tuple[str, str, str]:
    """Return the shape and the sentence that say how the deployment is, and a second sentence."""
    if health.status == "starting":
        return "learn", "Freshet is starting.", "Give it a few minutes."
    if health.status == "failing":
        return "bad", "Something does not work.", "The parts below say what, and what to do."
    if free_bytes < LITTLE_ROOM:
        return (
            "bad",
            "The disk is nearly full.",
            "Make room, or let Freshet keep less.",
        )
    if failing:
        feeds = "One feed needs" if failing == 1 else f"{failing:,} feeds need"
        return "good", "All is well.", f"{feeds} a look."
    return "good", "All is well.", "Nothing needs a look."


def parts(health: Health) -> list[PartState]:
    """Return the parts of the deployment with their states, and what to do where one does not work."""
    is_starting = health.status == "starting"
    rows = [
        _part("Database", health.database, is_starting, "Does PostgreSQL run, and has the disk room?"),
        _part("Planning", health.tick, is_starting, "Start it again: the log says why it ended."),
        _part("Visiting feeds", health.workers, is_starting, "Start workers, or look into their log."),
    ]
    if health.graph == OK and health.graph_behind:
        changes = "one change" if health.graph_behind == 1 else f"{health.graph_behind:,} changes"
        rows.append(PartState("Knowledge graph", "learn", f"{changes} behind"))
    else:
        rows.append(_part("Knowledge graph", health.graph, is_starting, "The log says more."))
    if health.graphs_set_aside:
        rows.append(
            PartState("Knowledge graph", "warn", f"{health.graphs_set_aside:,} documents were too large")
        )
    rows += [
        PartState("Protection", "warn", words) for words in (health.walls, health.sandbox) if words != OK
    ]
    return rows


def freshness(figures: Statistics) -> str:
    """Return how soon articles are here, "" while nothing was measured."""
    delay = figures.delay
    if delay.p50 is None:
        return ""
    rest = f"; {duration(delay.p95)} until 95 of 100 are" if delay.p95 is not None else ""
    return f"until half of all new articles are here{rest}"


def cost(figures: Statistics) -> str:
    """Return how many visits found out cheaply that nothing is new, "" for too few visits."""
    if figures.retrievals < MIN_VISITS:
        return ""
    tenths = round(10 * (figures.not_modified + figures.same_body) / figures.retrievals)
    return f"{tenths} of 10 found out cheaply that nothing is new" if tenths else ""


def _part(name: str, words: str, is_starting: bool, what_to_do: str) -> PartState:
    if words == OK:
        return PartState(name, "good", "works")
    return (
        PartState(name, "learn", "is starting")
        if is_starting
        else PartState(name, "bad", f"{words}. {what_to_do}")
    )
