"""The deployment's feeds as the arrays that policies rank, in blocks so that a million of them fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from django.db.models import BinaryField, FloatField, Func, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from crawler.database.bulk import select_blocks
from crawler.engine.ticking import tick_seconds
from feeds.models import Feed
from feeds.scheduling.base import FeedStates, Policy
from feeds.scheduling.forecast import MIN_RATE
from feeds.scheduling.history import MIN_RATE as MIN_HOURLY_RATE
from feeds.scheduling.history import START_RATE, Histories, unpack
from feeds.scheduling.rates import DAY_HOURS, WEEK_HOURS, Floats32, PeriodicRates, hour_of
from feeds.scheduling.registry import make_policy, weighs_audience
from feeds.scheduling.training import AdvarssTraining
from feeds.visiting.posting import population
from feeds.visiting.rules import VisitRules, rules

BLOCK = 4_000
EVERYTHING = frozenset({"hourly", "weekly", "plan", "training"})


class _Epoch(Func):
    """Epoch seconds as a double. EXTRACT would compute a numeric first, in twice the time."""

    template = "date_part('epoch', %(expressions)s)"
    output_field = FloatField()


_LAST = _Epoch(Coalesce("last_success", "added"))
_TRAINING: tuple[str | Combinable, ...] = ("training_m", "training_t", _Epoch("training_due"))


def live_policy(in_force: VisitRules | None = None) -> Policy:
    """Return the policy of the rules in force for feeds in the normal phase.

    Who has read the rules already gives them. Raises ValueError for unknown names.
    """
    chosen = in_force or rules()
    if chosen.policy == AdvarssTraining.name:
        return training_policy(chosen)
    weight = {"c": chosen.audience_weight} if weighs_audience(chosen.policy) else {}
    return make_policy(chosen.policy, **weight)


def training_policy(in_force: VisitRules | None = None) -> AdvarssTraining:
    """Return the training policy with the deployment's tick, by the rules given or those in force."""
    return AdvarssTraining(tick=tick_seconds(), max_ticks=(in_force or rules()).training_max_ticks)


def blocks(
    feeds: QuerySet[Feed],
    reads: Set[str] = EVERYTHING,
    at: float | None = None,
    *,
    in_force: VisitRules | None = None,
) -> Iterator[FeedStates]:
    """Yield the states of a query's feeds, at most BLOCK at a time, ordered by id.

    `reads` names the parts of the state that the policy needs (`Policy.reads`); other parts are not fetched.
    With `at` (epoch seconds), only the plan's values around that time are fetched. Who has read the rules
    already gives them.
    """
    hour = None if at is None else int(hour_of(at, WEEK_HOURS))
    tables = _tables(reads, hour)
    training = _TRAINING if "training" in reads else ()
    audience = "active_subscribers" if (in_force or rules()).active_only else "subscribers"
    columns = ("id", _LAST, audience, "document_size", *training, *(table.column for table in tables))
    for rows in select_blocks(feeds.order_by("id").values_list(*columns), BLOCK):
        ids, last, subscribers, window, *others = zip(*rows, strict=True)
        # A block of rows and its arrays at once would be twice the memory.
        del rows
        numbers, blobs = others[: len(training)], others[len(training) :]
        arrays = {table.name: table.of(blob) for table, blob in zip(tables, blobs, strict=True)}
        yield FeedStates(
            id=np.array(ids, dtype=np.int64),
            last=np.array(last, dtype=np.float64),
            hourly=PeriodicRates.of(arrays["hourly"], copy=False) if "hourly" in arrays else None,
            weekly=PeriodicRates.of(arrays["weekly"], copy=False) if "weekly" in arrays else None,
            shape=arrays.get("plan"),
            shape_from=hour or 0,
            subscribers=np.array(subscribers, dtype=np.float64),
            window=np.array(window, dtype=np.float64),
            columns={
                name: np.array(column, dtype=np.float64)
                for name, column in zip(("m", "t", "due"), numbers, strict=False)
            },
        )


@dataclass(frozen=True, slots=True)
class _Table:
    """A column that a policy may read: its table, its value for feeds without one, and its minimum."""

    name: str
    column: str | Combinable
    default: Floats32
    least: float = 0.0

    def of(self, blobs: Sequence[bytes | memoryview | None]) -> Floats32:
        """Decode rows into an (n, hours) float32 table, with the default for missing rows."""
        default = self.default.astype("<f4").tobytes()
        table = unpack([default if blob is None else blob for blob in blobs], len(self.default))
        # In place, because the table is a block's largest array.
        return np.maximum(table, np.float32(self.least), out=table)


def _tables(reads: Set[str], hour: int | None) -> list[_Table]:
    """Return the tables that are read; only the default of missing forecasts needs a query.

    With an hour of the week, the plan has only that hour and the next.
    """
    tables = []
    if "hourly" in reads:
        hourly = np.full(DAY_HOURS, START_RATE, dtype=np.float32)
        tables.append(_Table("hourly", "history__hourly", hourly, MIN_HOURLY_RATE))
    if "weekly" in reads:
        weekly = Histories.start(1).forecast(population()).rates()[0]
        tables.append(_Table("weekly", "history__rates", weekly, MIN_RATE))
    if "plan" in reads:
        shape = np.ones(WEEK_HOURS, dtype=np.float32)
        if hour is None:
            tables.append(_Table("plan", "plan__shape", shape))
        else:
            tables.append(_Table("plan", _two_hours("plan__shape", hour), shape[:2]))
    return tables


def _two_hours(column: str, hour: int) -> Combinable:
    """Cut the bytes of this hour and the next from a row's float32 for 168 hours, around the week's end.

    A row that is too short gives fewer bytes, which `unpack` refuses.
    """
    if hour < WEEK_HOURS - 1:
        return _Bytes(column, 4 * hour + 1, 8)
    return _Joined(_Bytes(column, 4 * hour + 1, 4), _Bytes(column, 1, 4))


class _Bytes(Func):
    """Bytes of a column, from arguments column, start (from 1) and length."""

    function = "substring"
    output_field = BinaryField()


class _Joined(Func):
    """Concatenated bytes; null where one of the parts is null."""

    template, arg_joiner = "%(expressions)s", " || "
    output_field = BinaryField()
