"""`adaptive`, the default: fetch what is worth more than a fetch costs, by what visits have shown. Pure.

A page's worth is that of its doubt: by the index of discrete freshness
V(tau) = (1 - exp(-l tau)(1 + l tau)) / l where doubt grows silently (Azar and others), by the mere
probability of a change where gates announce it. A change of this very week counts extra, and a
gate counts what it would tell of the pages behind it. The price of a fetch is the one at which V(tau) alone
would spend the budget; where fetches can be kept it is half of that, and less the more is saved. Pages of
one section behind gates of one kind are taken a few at a time, so that what these show decides on the rest.
A fetch is kept if it would probably gain more next week, when more pages may change than could be fetched;
what is saved beyond some weeks' budget goes to the best of what is left.
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
from recrawl.methods.belief import ChangeBelief, believe, record, there, unseen
from recrawl.methods.ledger import OPEN, Ledger, Past

SIGNALS = 0.5
"""The part of changes that gates are taken to announce."""

IN_TIME = 7.0
"""What a change of this very week counts extra, in prices of a fetch."""

LONGEST_WEEKS = 12.0
"""How long a fetched copy is taken to last at most."""

DEAREST = 6.0
"""The highest price of a fetch, in weeks of a page that is as stored."""

BAR = 0.5
"""The part of the price that a page must be worth where fetches can be kept: what they gain decides too."""

KEPT_WEEKS = 8.0
"""So many weeks' budget is kept at most."""

ROUND = 0.08
"""The part of a week's budget that is fetched before the odds are looked at again."""

FEW, GROWTH = 4, 1.5
"""Of a group so many pages at first, then so many times as were fetched of it."""

MOST_TOLD = 50.0
"""What a gate may be worth for the pages behind it, in weeks of a page that is as stored."""

CAUGHT = 1.0
"""What finding a change in its very week counts beside a copy made sound, where fetches are kept."""

FEW_A_VISIT = 2.0
"""Where a visit may fetch no more than this of very many pages, the top page has no precedence."""

LIKELY = 0.5
"""The odds of a change this week from which no fetch is kept back."""

PRIOR_VISITS, PRIOR_HAZARD = 2.5, 0.2
"""As if there had been so many visits before the first; and how likely, in each week in which more can be
saved, more pages change than could be fetched.
"""


class Adaptive(Method):
    """Keeps its ledger in the server's memory."""

    name = "adaptive"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        ledger = ledger_of(server)
        if unfetched([server.top], server, visit) and _top_first(server, visit, ledger):
            return [server.top]
        belief = believe(server, visit, ledger)
        left = unseen(server, visit, belief.gates)
        rates, price = _rates_and_price(belief.past, visit, ledger)
        worth = _worth(visit, ledger, belief, left, (rates, price))
        paths = belief.gates.paths
        order = np.lexsort((belief.gates.place, -worth))
        order = order[left[order]]
        if math.isinf(visit.weekly):
            return [paths[page] for page in order.tolist()]
        most = max(2, int(visit.weekly * ROUND))
        if visit.saves:
            good = order[worth[order] >= _lowered(price, visit)].tolist()
            few = _few(_affordable(good, belief, ledger, visit), belief, most)
        else:
            few = _few(order[worth[order] >= price].tolist(), belief, most)
        if not few:
            few = order[: min(most, int(max(visit.budget - KEPT_WEEKS * visit.weekly, 0.0)))].tolist()
        return [paths[page] for page in few]

    def finish(self, server: KnownServer, visit: OpenVisit) -> None:
        record(server, visit, ledger_of(server))


def ledger_of(server: KnownServer) -> Ledger:
    """What was counted of a server; an empty ledger is put there where none is."""
    found: Ledger = server.memory.setdefault("adaptive", Ledger())
    return found


def _top_first(server: KnownServer, visit: OpenVisit, ledger: Ledger) -> bool:
    """Whether the top page is fetched before it is asked what pages are worth.

    Where a visit may fetch few of very many pages, so that going round would take longer than a copy lasts,
    it must have changed since its last fetch with a probability of (FEW_A_VISIT / fetches a visit) ** 2; else
    it has to be worth a fetch as all others.
    """
    rows = ledger.tracks.get(server.top, {}).values()
    span = sum(row.span for row in rows)
    if not visit.saves or span < 2 or len(server.pages) <= LONGEST_WEEKS * visit.weekly:
        return True
    rate = (sum(row.changes for row in rows) + 0.5) / (span + 1)
    weeks = sum(row.weeks for row in rows) + 1
    return (1 - (1 - rate) ** weeks) * visit.weekly**2 >= FEW_A_VISIT**2


def _lowered(price: float, visit: OpenVisit) -> float:
    """BAR of the price, which falls to nothing as what is saved grows to the most that is kept."""
    if not visit.weekly:
        return BAR * price
    saved = max(0.0, visit.budget - visit.weekly)
    return BAR * price * max(0.0, 1 - saved / (KEPT_WEEKS * visit.weekly))


def _affordable(
    pages: Iterable[int], belief: ChangeBelief, ledger: Ledger, visit: OpenVisit
) -> Iterator[int]:
    """Without those that gain less than the fetch would, were it kept for next week.

    Looking one week ahead is enough: a fetch that is not needed then can be made, or kept, once more.
    """
    demands = sorted(ledger.demands)
    fresh = belief.fresh.tolist()
    gains = (1 - belief.sound + CAUGHT * belief.fresh).tolist()
    left = visit.budget
    for page in pages:
        if fresh[page] >= LIKELY or gains[page] >= (1 + CAUGHT) * _needed(demands, left, visit.weekly):
            yield page
            left -= 1


def _needed(demands: list[float], left: float, weekly: float) -> float:
    """How likely more pages change next week than could be fetched then, by what changed in past visits."""
    bursts = len(demands) - bisect_left(demands, min(left, KEPT_WEEKS * weekly) + weekly)
    room = max(0.0, KEPT_WEEKS * weekly - left)
    weeks = 1 + (room / weekly if room else 0)  # until what is kept would be lost
    prior: float = 1 - (1 - PRIOR_HAZARD) ** weeks
    return (PRIOR_VISITS * prior + bursts) / (PRIOR_VISITS + len(demands))


def _few(pages: Iterable[int], belief: ChangeBelief, most: int) -> list[int]:
    """Of each section behind gates of one kind only some more than were fetched there already."""
    groups = belief.groups.tolist()
    taken: Counter[int] = Counter()
    found = []
    for page in pages:
        group = groups[page]
        if taken[group] < max(FEW, GROWTH * belief.seen[group]):
            taken[group] += 1
            found.append(page)
            if len(found) == most:
                break
    return found


def _rates_and_price(past: Past, visit: OpenVisit, ledger: Ledger) -> tuple[Floats, float]:
    """Both hold for the whole visit; pages that join in it are not asked for any more."""
    key = f"rates of {visit.weekly}"
    if key not in ledger.derived:
        rates = _rates(past)
        named = dict(zip(past.gates.paths, rates.tolist(), strict=True))
        ledger.derived[key] = past.gates, rates, named, min(_price(rates, visit.weekly), DEAREST)
    gates, rates, named, price = ledger.derived[key]
    if gates is not past.gates:
        rates = np.array([named.get(path, 1.0) for path in past.gates.paths], np.float64)
    return rates, price


def _rates(past: Past) -> Floats:
    """Changes a week of every page in the long run: its own, shrunk to its section's, to the site's."""
    gates = past.gates
    changes = sums(gates.section, past.all_changes, len(gates.sections))
    weeks = sums(gates.section, past.span, len(gates.sections))
    site = (0.4 + sum(changes.tolist())) / (10 + sum(weeks.tolist()))
    local = (10 * site + changes) / (10 + weeks)
    share = (4 * local[gates.section] + past.all_changes) / (4 + past.span)
    return np.maximum(-log(1 - np.minimum(share, 0.95)), 1 / LONGEST_WEEKS)


def _price(rates: Floats, weekly: float) -> float:
    """The index at which pages of these rates would take so many fetches a week, by bisection."""
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
    """Fetches a week of pages that are fetched whenever V(tau) has reached the price; at most one each."""
    grown = price * rates
    below = np.minimum(np.searchsorted(_GROWN, grown) - 1, _GROWN_STEPS.size - 1)
    doubts = _DOUBTS[below] + (grown - _GROWN[below]) / _GROWN_STEPS[below] * _DOUBT_STEPS[below]
    often = np.minimum(1.0, rates / np.maximum(doubts, 1e-9))
    often[grown >= 1] = 0.0
    return often


def _grown(sound: Floats) -> Floats:
    """1 - exp(-x)(1 + x) for the probability exp(-x) that nothing has changed."""
    return 1 - sound * (1 - log(np.maximum(sound, 1e-9)))


_DOUBTS = np.array([0.0, *(1e-3 * 1.02**step for step in range(530))])
_GROWN = _grown(exp(-_DOUBTS))
"""A table of that function, for its inverse; doubt up to 36."""
_DOUBT_STEPS, _GROWN_STEPS = np.diff(_DOUBTS), np.diff(_GROWN)


def _value(sound: Floats, fresh: Floats, rates: Floats, price: float) -> Floats:
    """What fetching a page is worth, in weeks of a page that is as stored."""
    return (SIGNALS * (1 - sound) + (1 - SIGNALS) * _grown(sound)) / rates + IN_TIME * price * fresh


def _worth(
    visit: OpenVisit, ledger: Ledger, belief: ChangeBelief, left: Flags, terms: tuple[Floats, float]
) -> Floats:
    """Of every page, on terms of rates and price; what is not `left` counts for nothing."""
    gates, past = belief.gates, belief.past
    rates, price = terms
    worth = _value(belief.sound, belief.fresh, rates, price) * there(gates, visit)
    odds = ledger.expected(gates, belief.top).opened
    then = _value(past.sound * (1 - odds), odds, rates, price)
    gains = np.where(left & (belief.kinds != OPEN), then - np.maximum(worth, price), 0.0)
    behind = gates.gathered(np.maximum(gains, 0.0))
    return worth + np.minimum(behind, MOST_TOLD) * belief.fresh
