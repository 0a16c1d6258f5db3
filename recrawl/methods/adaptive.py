"""`adaptive`, the default method: fetch a page if its worth exceeds the price of a fetch, by past outcomes.
Pure.

The worth of a page is the worth of its doubt: by the index of discrete freshness V(tau) = (1 - exp(-l tau)(1
+ l tau)) / l for doubt that grows silently (Azar and others), and by the probability of a change for changes
that gates announce. A change of this week counts extra, and a gate gains the worth of its evidence about the
pages behind it. The price of a fetch is the one at which V(tau) alone would spend the budget. If fetches can
be saved it is half of that, and decreases as more is saved. Pages of one section behind gates of one kind are
fetched a few at a time, so that their outcomes decide on the rest. A fetch is saved if it would probably gain
more next week, when more pages may change than could be fetched. Savings beyond some weeks' budget are spent
on the best remaining pages.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from recrawl.known_server import KnownServer, OpenVisit
from recrawl.methods.arrays import Flags, Floats, exp, log, sums
from recrawl.methods.base import Method, unfetched
from recrawl.methods.belief import ChangeBelief, Group, believe, existence_odds, record, unseen_pages
from recrawl.methods.ledger import OPEN, Ledger, Past, VisitRates

SIGNALS = 0.5
"""The share of changes that gates are assumed to announce."""

IN_TIME = 7.0
"""The extra worth of a change made this week, in prices of a fetch."""

MAX_WEEKS = 12.0
"""The longest time that a fetched copy is assumed to stay up to date."""

MAX_PRICE = 6.0
"""The highest price of a fetch, in weeks of an up-to-date page."""

BAR = 0.5
"""The share of the price that a page must be worth if fetches can be saved. Their gain decides too."""

MAX_SAVED_WEEKS = 8.0
"""The highest saved budget, in weeks."""

ROUND = 0.08
"""The share of a week's budget that is fetched before the odds are computed again."""

GROUP_START, GROUP_GROWTH = 4, 1.5
"""Pages of a group fetched at least, and the limit of its fetches as a multiple of those already made."""

MAX_GATE_WORTH = 50.0
"""The highest worth of a gate for the pages behind it, in weeks of an up-to-date page."""

CAUGHT = 1.0
"""The worth of finding a change in its week, relative to updating a copy, if fetches can be saved."""

FEW_A_VISIT = 2.0
"""A visit that may fetch no more than this of very many pages does not fetch the top page first."""

LIKELY = 0.5
"""The odds of a change this week above which a fetch is never saved."""

PRIOR_VISITS, PRIOR_HAZARD = 2.5, 0.2
"""The prior of `_needed`: its weight in visits, and the probability that more pages change in a week than
could be fetched, for each week in which more can be saved.
"""


class Adaptive(Method):
    """The default method. It keeps its ledger in the server's memory."""

    name = "adaptive"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        ledger = ledger_of(server)
        if unfetched([server.top], server, visit) and _top_first(server, visit, ledger):
            return [server.top]
        belief = believe(server, visit, ledger)
        is_unseen = unseen_pages(server, visit, belief.gates)
        rates, price = _rates_and_price(belief.past, visit, ledger)
        worth = _worth(visit, ledger, belief, is_unseen, (rates, price))
        paths = belief.gates.paths
        order = np.lexsort((belief.gates.place, -worth))
        order = order[is_unseen[order]]
        if math.isinf(visit.weekly):
            return [paths[page] for page in order.tolist()]
        max_pages = max(2, int(visit.weekly * ROUND))
        if visit.saves:
            good = order[worth[order] >= _lowered(price, visit)].tolist()
            batch = _limit_groups(_affordable(good, belief, ledger, visit), belief, max_pages)
        else:
            batch = _limit_groups(order[worth[order] >= price].tolist(), belief, max_pages)
        if not batch:
            batch = order[
                : min(max_pages, int(max(visit.budget - MAX_SAVED_WEEKS * visit.weekly, 0.0)))
            ].tolist()
        return [paths[page] for page in batch]

    def finish(self, server: KnownServer, visit: OpenVisit) -> None:
        record(server, visit, ledger_of(server))


def ledger_of(server: KnownServer) -> Ledger:
    """Return a server's ledger. An empty one is stored if there is none."""
    ledger: Ledger = server.memory.setdefault("adaptive", Ledger())
    return ledger


def _top_first(server: KnownServer, visit: OpenVisit, ledger: Ledger) -> bool:
    """Return whether the top page is fetched first, before any page's worth is computed.

    If a visit may fetch so few of very many pages that one pass over them takes longer than a copy lasts, the
    top page must have changed since its last fetch with a probability of at least (FEW_A_VISIT / fetches a
    visit) ** 2. Otherwise it has to be worth a fetch like every other page.
    """
    rows = ledger.tracks.get(server.top, {}).values()
    span = sum(row.span for row in rows)
    if not visit.saves or span < 2 or len(server.pages) <= MAX_WEEKS * visit.weekly:
        return True
    rate = (sum(row.changes for row in rows) + 0.5) / (span + 1)
    weeks = sum(row.weeks for row in rows) + 1
    return (1 - (1 - rate) ** weeks) * visit.weekly**2 >= FEW_A_VISIT**2


def _lowered(price: float, visit: OpenVisit) -> float:
    """Return BAR times the price, lowered linearly to 0 as the saved budget grows to MAX_SAVED_WEEKS."""
    if not visit.weekly:
        return BAR * price
    saved = max(0.0, visit.budget - visit.weekly)
    return BAR * price * max(0.0, 1 - saved / (MAX_SAVED_WEEKS * visit.weekly))


def _affordable(
    pages: Iterable[int], belief: ChangeBelief, ledger: Ledger, visit: OpenVisit
) -> Iterator[int]:
    """Yield the pages that gain at least as much now as the fetch would if it were saved for next week.

    Looking one week ahead is enough: a saved fetch that is not needed then can be spent, or saved once more.
    """
    demands = sorted(ledger.demands)
    change_odds = belief.change_odds.tolist()
    gains = (1 - belief.sound + CAUGHT * belief.change_odds).tolist()
    remaining_budget = visit.budget
    for page in pages:
        if change_odds[page] >= LIKELY or gains[page] >= (1 + CAUGHT) * _needed(
            demands, remaining_budget, visit.weekly
        ):
            yield page
            remaining_budget -= 1


def _needed(demands: list[float], remaining_budget: float, weekly: float) -> float:
    """Return the probability that more pages change next week than could be fetched then, by the demands of
    past visits.
    """
    bursts = len(demands) - bisect_left(demands, min(remaining_budget, MAX_SAVED_WEEKS * weekly) + weekly)
    room = max(0.0, MAX_SAVED_WEEKS * weekly - remaining_budget)
    weeks = 1 + (room / weekly if room else 0)  # until the saved budget would be lost
    prior: float = 1 - (1 - PRIOR_HAZARD) ** weeks
    return (PRIOR_VISITS * prior + bursts) / (PRIOR_VISITS + len(demands))


def _limit_groups(pages: Iterable[int], belief: ChangeBelief, max_pages: int) -> list[int]:
    """Limit the pages of each section and kind of gates to a few more than were already fetched there."""
    groups = belief.groups
    batch_counts: Counter[Group] = Counter()
    batch = []
    for page in pages:
        group = groups[page]
        if batch_counts[group] < max(GROUP_START, GROUP_GROWTH * belief.fetched_counts[group]):
            batch_counts[group] += 1
            batch.append(page)
            if len(batch) == max_pages:
                break
    return batch


def _rates_and_price(past: Past, visit: OpenVisit, ledger: Ledger) -> tuple[Floats, float]:
    """Return rates and price, computed once for the whole visit. Pages that join during the visit are not
    fetched again in it.
    """
    computed = ledger.derived.rates.get(visit.weekly)
    if computed is None:
        rates = _rates(past)
        computed = VisitRates(past.gates, rates, min(_price(rates, visit.weekly), MAX_PRICE))
        ledger.derived.rates[visit.weekly] = computed
    if computed.gates is past.gates:
        return computed.rates, computed.price
    rates_by_path = dict(zip(computed.gates.paths, computed.rates.tolist(), strict=True))
    return np.array([rates_by_path.get(path, 1.0) for path in past.gates.paths], np.float64), computed.price


def _rates(past: Past) -> Floats:
    """Return the long-run changes a week of every page: its own rate, shrunk to its section's, shrunk to the
    site's.
    """
    gates = past.gates
    changes = sums(gates.section, past.all_changes, len(gates.sections))
    weeks = sums(gates.section, past.span, len(gates.sections))
    site = (0.4 + sum(changes.tolist())) / (10 + sum(weeks.tolist()))
    local = (10 * site + changes) / (10 + weeks)
    share = (4 * local[gates.section] + past.all_changes) / (4 + past.span)
    return np.maximum(-log(1 - np.minimum(share, 0.95)), 1 / MAX_WEEKS)


def _price(rates: Floats, weekly: float) -> float:
    """Return the index at which pages of these rates would need `weekly` fetches a week, by bisection."""
    if math.isinf(weekly) or not rates.size:
        return 0.0
    counts = Counter(round(rate, 3) for rate in rates.tolist())
    kinds, sizes = np.array(list(counts)), np.array(list(counts.values()))
    low, high = 1e-4, 60.0
    for _ in range(16):
        middle = math.sqrt(low * high)
        spent = sum((sizes * _frequencies(kinds, middle)).tolist())
        low, high = (middle, high) if spent > weekly else (low, middle)
    return low


def _frequencies(rates: Floats, price: float) -> Floats:
    """Return the fetches a week of pages that are fetched whenever V(tau) reaches the price, at most one
    each.
    """
    grown = price * rates
    below = np.minimum(np.searchsorted(_GROWN, grown) - 1, _GROWN_STEPS.size - 1)
    doubts = _DOUBTS[below] + (grown - _GROWN[below]) / _GROWN_STEPS[below] * _DOUBT_STEPS[below]
    often = np.minimum(1.0, rates / np.maximum(doubts, 1e-9))
    often[grown >= 1] = 0.0
    return often


def _grown(sound: Floats) -> Floats:
    """Return 1 - exp(-x)(1 + x), given the probability exp(-x) that nothing has changed."""
    return 1 - sound * (1 - log(np.maximum(sound, 1e-9)))


_DOUBTS = np.array([0.0, *(1e-3 * 1.02**step for step in range(530))])
_GROWN = _grown(exp(-_DOUBTS))
"""A table of `_grown` by doubt, up to 36, for its inverse."""
_DOUBT_STEPS, _GROWN_STEPS = np.diff(_DOUBTS), np.diff(_GROWN)


def _value(sound: Floats, change_odds: Floats, rates: Floats, price: float) -> Floats:
    """Return the worth of fetching each page, in weeks of an up-to-date page."""
    return (SIGNALS * (1 - sound) + (1 - SIGNALS) * _grown(sound)) / rates + IN_TIME * price * change_odds


def _worth(
    visit: OpenVisit, ledger: Ledger, belief: ChangeBelief, is_unseen: Flags, terms: tuple[Floats, float]
) -> Floats:
    """Return the worth of every page by rates and price. Gates count pages behind them only where
    `is_unseen`.
    """
    gates, past = belief.gates, belief.past
    rates, price = terms
    worth = _value(belief.sound, belief.change_odds, rates, price) * existence_odds(gates, visit)
    odds = ledger.expected(gates, belief.top).opened
    then = _value(past.sound * (1 - odds), odds, rates, price)
    gains = np.where(is_unseen & (belief.kinds != OPEN), then - np.maximum(worth, price), 0.0)
    behind = gates.gathered(np.maximum(gains, 0.0))
    return worth + np.minimum(behind, MAX_GATE_WORTH) * belief.change_odds
