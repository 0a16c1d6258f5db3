"""Priors of posting: what is expected of a feed before it was watched, as a small file to exchange.

A file is one JSON object: `format`, `feeds` and `articles` it was learned from, `mean` articles per hour of a
feed, and `profile`, the 168 hours of the week in UTC (Monday first) relative to that mean. `prior.json` here
was learned by `manage.py priors --learn` from 920 news sites and forums (traces of 2013). It predicts the
hours of posts of other feeds by 0.07 to 0.09 nats a post better than no knowledge. Groups by language and
posting rate predicted no better than all feeds together (docs/notes/scheduling.md).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from feeds.replay.trace import Trace
from feeds.scheduling.forecast import PRIOR_ARTICLES, Population
from feeds.scheduling.rates import DAY_HOURS, WEEK_HOURS, Floats, hour_of

FORMAT = "freshet priors 1"
SHIPPED = Path(__file__).with_name("prior.json")
# A file of a stranger: one absurd number would rank every new feed first.
_MAX_RATE = 1000.0
_MAX_FACTOR = 168.0


class PriorError(ValueError):
    """Error of a file that is no prior, with the reason."""


@cache
def default_prior() -> Population:
    """Return the prior that comes with Freshet."""
    return parse_prior(json.loads(SHIPPED.read_text()))


def read_prior(path: Path) -> dict[str, Any]:
    """Return the JSON of a file of priors. Raises PriorError with the file's name, OSError."""
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        parse_prior(content)
    except (ValueError, RecursionError) as error:
        raise PriorError(f"{path} is no file of priors: {error}") from error
    return content


def parse_prior(content: Any) -> Population:
    """Return the prior of a file's JSON. Raises PriorError."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise PriorError(f"its format is not {FORMAT!r}")
    mean, profile = content.get("mean"), content.get("profile")
    if not _is_number(mean, _MAX_RATE) or not mean:
        raise PriorError("its mean is no number of articles per hour")
    if not isinstance(profile, list) or len(profile) != WEEK_HOURS:
        raise PriorError(f"its profile does not have {WEEK_HOURS} hours")
    if not all(_is_number(value, _MAX_FACTOR) for value in profile) or not sum(profile):
        raise PriorError("its profile holds something that is no factor of the mean")
    hours = np.array(profile, dtype=np.float64)
    return Population(mean=float(mean or 0), profile=hours / hours.mean())


def _is_number(value: Any, maximum: float) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 0 <= value <= maximum
    )


def as_json(counts: Floats, exposure: Floats, feeds: int, articles: float | None = None) -> dict[str, Any]:
    """Return the JSON of a prior learned from (168,) articles and hours watched of `feeds` feeds.

    `articles` is their number, where counts are weighted. Raises PriorError if nothing was posted.
    """
    if counts.sum() <= 0 or exposure.sum() <= 0:
        raise PriorError("nothing was posted yet")
    learned = Population.of(counts, exposure)
    return {
        "format": FORMAT,
        "feeds": feeds,
        "articles": round(float(counts.sum()) if articles is None else articles),
        "mean": float(f"{learned.mean:.4g}"),
        "profile": [round(float(value), 3) for value in learned.profile],
    }


def learn_prior(traces: Iterable[Trace]) -> dict[str, Any]:
    """Return the JSON of a prior learned from traces, which weigh alike however many posts each has.

    Raises PriorError for no posts.
    """
    counts, exposure, feeds, articles = np.zeros(WEEK_HOURS), np.zeros(WEEK_HOURS), 0, 0
    for trace in traces:
        # 105,000 posts of forums drowned 43,000 of news sites, whose day is another.
        weight = PRIOR_ARTICLES * 100 / len(trace.published)
        counts += weight * np.bincount(hour_of(trace.published, WEEK_HOURS), minlength=WEEK_HOURS)
        exposure += weight * max(trace.days, 1.0) * DAY_HOURS / WEEK_HOURS * len(trace.feeds)
        feeds += len(trace.feeds)
        articles += len(trace.published)
    return as_json(counts, exposure, feeds, articles)
