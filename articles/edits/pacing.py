"""When to look at the page of an article again: which looks are worth their requests. Pure.

A page is looked at an hour after its first download, then after six, a day, three days and a week, if the
budget allows: looks together are at most SHARE of the requests that Freshet makes anyhow. Of those that are
due, the ones come first that most probably find an edit. That is learned for each site and each of the five
looks, by counts from which the prior of all sites is never far: a site that has never edited anything is
asked about once in a while, one that corrects within the hour is asked within the hour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LADDER = (3_600.0, 6 * 3_600.0, 86_400.0, 3 * 86_400.0, 7 * 86_400.0)
"""Seconds after the first download of the page."""
SHARE = 0.12
"""Looks of all other requests: the acceptance allows .15, and late hours would spend more."""
PRIOR_LOOKS = 8.0
"""Looks that the prior of all sites counts for."""
PRIOR = (0.03, 0.03, 0.02, 0.01, 0.005)
"""Share of looks that find an edit, before anything is known of a site: NewsDiffs' archives have more for
newsrooms, blogs have fewer.
"""
MEMORY = 200.0
"""Looks of a site that are remembered with full weight; older ones fade."""
LATE = 1.5
"""A look that waited until so many times its age is left out: the next one will see the edit, too."""


@dataclass(frozen=True, slots=True)
class DueLook:
    """A look that is due: its key, its rung of the ladder, and what is known of its site."""

    key: int
    rung: int
    looks: Sequence[float] = ()
    edits: Sequence[float] = ()


def chance(rung: int, looks: Sequence[float], edits: Sequence[float]) -> float:
    """Return the probability that a look finds an edit."""
    look_count = looks[rung] if rung < len(looks) else 0.0
    edit_count = edits[rung] if rung < len(edits) else 0.0
    return (edit_count + PRIOR[rung] * PRIOR_LOOKS) / (look_count + PRIOR_LOOKS)


def allowed(others: int, spent: int) -> int:
    """Return how many looks may be made now: `others` are the other requests of a day, `spent` its looks."""
    return max(int(SHARE * others) - spent, 0)


def chosen(due: Sequence[DueLook], number: int) -> list[int]:
    """Return the keys of the looks that are worth most, at most `number`."""
    ranked = sorted(due, key=lambda look: (-chance(look.rung, look.looks, look.edits), look.rung, look.key))
    return [look.key for look in ranked[:number]]


def learned(
    looks: Sequence[float], edits: Sequence[float], rung: int, *, has_edit: bool
) -> tuple[list[float], list[float]]:
    """Return a site's counts with one more look; beyond MEMORY looks the older ones fade."""
    look_counts = [*looks, *[0.0] * (len(LADDER) - len(looks))]
    edit_counts = [*edits, *[0.0] * (len(LADDER) - len(edits))]
    fade = min(MEMORY / (look_counts[rung] + 1.0), 1.0)
    look_counts[rung] = (look_counts[rung] + 1.0) * fade
    edit_counts[rung] = (edit_counts[rung] + float(has_edit)) * fade
    return look_counts, edit_counts
