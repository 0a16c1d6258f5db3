"""Sentences of the overview, for the person who runs Freshet: its state, its parts, its freshness."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crawler.notices.watching import LITTLE_ROOM
from crawler.operation.site.health import OK, Health
from crawler.operation.site.statistics import Statistics
from crawler.web.sentences import translated
from crawler.web.templatetags.freshet import amount
from feeds.phrases import duration

MIN_VISITS = 20
"""Visits from which a share of them is said."""


@dataclass(frozen=True, slots=True)
class PartState:
    """A part of the deployment: its name, its shape (good, warn, bad, learn), and its state in words."""

    name: str
    shape: str
    words: str


def verdict(health: Health, waiting: int, free_bytes: float) -> tuple[str, str, str]:
    """Return the shape and the sentence that say how the deployment is, and a second sentence.

    `waiting` is the number of things that wait for a person.
    """
    if health.status == "starting":
        return "learn", _("Freshet is starting."), _("Give it a few minutes.")
    if health.status == "failing":
        return "bad", _("Something does not work."), _("What waits for you says what, and what to do.")
    if free_bytes < LITTLE_ROOM:
        return (
            "bad",
            _("The disk is nearly full."),
            _("Make room, or let Freshet keep less."),
        )
    if waiting:
        message = ngettext("One thing waits for you.", "%(count)s things wait for you.", waiting)
        return "good", _("All is well."), message % {"count": amount(waiting)}
    return "good", _("All is well."), _("Nothing waits for you.")


def parts(health: Health) -> list[PartState]:
    """Return the parts of the deployment with their states, and what to do if one does not work."""
    is_starting = health.status == "starting"
    rows = [
        _part(_("Database"), health.database, is_starting, _("Does PostgreSQL run, and has the disk room?")),
        _part(_("Planning"), health.tick, is_starting, _("Start it again: the log says why it ended.")),
        _part(_("Visiting feeds"), health.workers, is_starting, _("Start workers, or look into their log.")),
    ]
    if health.folder != OK:
        rows.append(
            _part(_("Disk"), health.folder, is_starting=False, what_to_do=_("Make room, or start it again."))
        )
    if health.graph == OK and health.graph_behind:
        message = ngettext("one change behind", "%(count)s changes behind", health.graph_behind)
        message %= {"count": amount(health.graph_behind)}
        rows.append(PartState(_("Knowledge graph"), "learn", message))
    else:
        rows.append(_part(_("Knowledge graph"), health.graph, is_starting, _("The log says more.")))
    if health.graphs_set_aside:
        rows.append(
            PartState(
                _("Knowledge graph"),
                "warn",
                ngettext(
                    "%(count)s document was too large",
                    "%(count)s documents were too large",
                    health.graphs_set_aside,
                )
                % {"count": amount(health.graphs_set_aside)},
            )
        )
    rows += [
        PartState(_("Protection"), "warn", translated(message))
        for message in (health.walls, health.sandbox)
        if message != OK
    ]
    return rows


def freshness(figures: Statistics) -> str:
    """Return how soon articles are here, "" while nothing was measured."""
    delay = figures.delay
    if delay.p50 is None:
        return ""
    if delay.p95 is None:
        return _("until half of all new articles are here")
    message = _("until half of all new articles are here; %(duration)s until 95 of 100 are")
    return message % {"duration": duration(delay.p95)}


def spent(figures: Statistics) -> str:
    """Return how many requests were made of those allowed in 24 hours."""
    budget = figures.budget
    message = ngettext(
        "%(used)s of %(allowed)s request in 24 hours",
        "%(used)s of %(allowed)s requests in 24 hours",
        round(budget.allowed),
    )
    return message % {"used": amount(budget.used), "allowed": amount(round(budget.allowed))}


def bar_width(figures: Statistics, whole: float = 400.0) -> str:
    """Return the width of the spent part of a bar that is `whole` wide."""
    budget = figures.budget
    share = min(budget.used / budget.allowed, 1.0) if budget.allowed else 0.0
    return f"{whole * share:.1f}"


def cost(figures: Statistics) -> str:
    """Return how many visits found out cheaply that nothing is new, "" for too few visits."""
    if figures.retrievals < MIN_VISITS:
        return ""
    tenths = round(10 * (figures.not_modified + figures.same_body) / figures.retrievals)
    return _("%(tenths)s of 10 found out cheaply that nothing is new") % {"tenths": tenths} if tenths else ""


def _part(name: str, words: str, is_starting: bool, what_to_do: str) -> PartState:
    if words == OK:
        return PartState(name, "good", _("works"))
    return (
        PartState(name, "learn", _("is starting"))
        if is_starting
        else PartState(
            name, "bad", _("%(words)s. %(advice)s") % {"words": translated(words), "advice": what_to_do}
        )
    )
