"""`adaptive`, the default: fetch what is worth more than a fetch costs, by what visits have shown. Pure.

A page's worth is that of its doubt: by the index of discrete freshness
V(tau) = (1 - exp(-l tau)(1 + l tau)) / l where doubt grows silently (Azar and others), by the mere
probability of a change where gates announce it, half of each. A change of this very week counts extra, and a
gate counts what it would tell of the pages behind it. The price of a fetch is the one at which V(tau) alone
would spend the budget. Pages of one directory behind gates of one kind are taken a few at a time, so that
what these show decides on the rest. What is fetched without a signal must gain more than it would at the next
burst; what is saved beyond some weeks' budget goes to the best of what is left.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict

from recrawl.knowledge import Server, Visit
from recrawl.methods.base import unfetched
from recrawl.methods.belief import (
    OPEN,
    Belief,
    Ledger,
    Track,
    believe,
    gates,
    habit,
    record,
)
from recrawl.structure import raw_directory

SIGNALS = 0.5
"""The part of changes that gates are taken to announce."""

IN_TIME = 8.0
"""What a change of this very week counts extra, in prices of a fetch."""

LONGEST_WEEKS = 12.0
"""How long a fetched copy is taken to last at most."""

DEAREST = 6.0
"""The highest price of a fetch, in weeks of a page that is as stored."""

QUIET = 12.0
"""How much dearer a fetch without a signal is while the top page has not changed."""

LIKELY = 0.25
"""The odds of a change this week from which a page has a signal."""

EXPLORING = 8.0
"""In so many first visits that factor grows, so that something is known of every page early."""

KEPT_WEEKS = 8.0
"""So many weeks' budget is kept for bursts at most."""

ROUND = 0.16
"""The part of a week's budget that is fetched before the odds are looked at again."""

FEW, GROWTH = 4, 1.5
"""Of a group so many pages at first, then so many times as were fetched of it."""

MOST_TOLD = 50.0
"""What a gate may be worth for the pages behind it, in weeks of a page that is as stored."""

PATIENCE = 0.2
"""How likely a burst must be in a visit for what is kept for it to be worth half of what it would find."""

CAUGHT = 2.0
"""What finding a change in its very week counts beside a copy made sound, where bursts are weighed."""

PRIOR_BURSTS, PRIOR_VISITS = 0.1, 1.0
"""Bursts, and visits, that are taken to have been before the first."""

UNLINKED = 0.1
"""How likely a page that no stored copy links to is still there."""


class Adaptive:
    """Keeps its ledger in the server's memory."""

    name = "adaptive"

    def following(self, server: Server, visit: Visit) -> list[str]:
        if unfetched([server.top], server, visit):
            return [server.top]
        ledger = _ledger(server)
        belief = believe(server, visit, ledger)
        rates, price = _rates_and_price(server, visit, ledger)
        worth = _worth(server, visit, belief, rates, price)
        order = sorted(worth, key=lambda path: (-worth[path], path))
        if math.isinf(visit.weekly):
            return order
        most = max(2, int(visit.weekly * ROUND))
        quiet = 1.0 if visit.changed(server.top) else QUIET ** min(1.0, len(ledger.demands) / EXPLORING)
        good = [
            path for path in order if worth[path] >= price * (1.0 if belief.fresh[path] >= LIKELY else quiet)
        ]
        good = _affordable(good, belief, ledger, visit)
        if good:
            return _few(good, belief, most)
        return order[: min(most, int(max(visit.budget - KEPT_WEEKS * visit.weekly, 0.0)))]

    def finish(self, server: Server, visit: Visit) -> None:
        record(server, visit, _ledger(server))


def _ledger(server: Server) -> Ledger:
    found: Ledger = server.memory.setdefault("adaptive", Ledger())
    return found


def _affordable(paths: list[str], belief: Belief, ledger: Ledger, visit: Visit) -> list[str]:
    """Without those that gain less than the fetch would when the next burst comes.

    A burst is a visit in which more pages changed than could be fetched with what is left.
    """
    demands = sorted(ledger.demands)
    left = visit.budget
    found = []
    for path in paths:
        fresh = belief.fresh[path]
        if fresh < LIKELY:
            bursts = len(demands) - bisect_right(demands, left)
            hazard = (PRIOR_BURSTS + bursts) / (PRIOR_VISITS + len(demands))
            kept = (1 + CAUGHT) * hazard / (hazard + PATIENCE)
            if 1 - belief.sound(path) + CAUGHT * fresh < kept:
                continue
        found.append(path)
        left -= 1
    return found


def _few(paths: list[str], belief: Belief, most: int) -> list[str]:
    """Of each directory behind gates of one kind only some more than were fetched there already."""
    taken: Counter[tuple[str, int]] = Counter()
    found = []
    for path in paths:
        group = belief.group(path)
        if taken[group] < max(FEW, GROWTH * belief.seen[group]):
            taken[group] += 1
            found.append(path)
            if len(found) == most:
                break
    return found


def _rates_and_price(server: Server, visit: Visit, ledger: Ledger) -> tuple[dict[str, float], float]:
    """Both hold for the whole visit; pages that join in it are not asked for any more."""
    key = f"rates of {visit.weekly}"
    if key not in ledger.derived:
        rates = _rates(server, ledger)
        ledger.derived[key] = rates, min(_price(rates, visit.weekly), DEAREST)
    found: tuple[dict[str, float], float] = ledger.derived[key]
    return found


def _rates(server: Server, ledger: Ledger) -> dict[str, float]:
    """Changes a week of every page in the long run: its own, shrunk to its directory's, to the site's."""
    checks: defaultdict[str, float] = defaultdict(float)
    changes: defaultdict[str, float] = defaultdict(float)
    own: dict[str, tuple[float, float]] = {}
    directories = server.graph.directory
    for path in server.pages:
        rows = ledger.tracks.get(path, {}).values()
        own[path] = sum(row.changes for row in rows), sum(row.checks for row in rows)
        name = directories.get(path, "")
        changes[name] += own[path][0]
        checks[name] += own[path][1]
    site = (0.4 + sum(changes.values())) / (10 + sum(checks.values()))
    local = {name: (10 * site + changes[name]) / (10 + count) for name, count in checks.items()}
    found = {}
    for path, (changed, checked) in own.items():
        share = (4 * local[directories.get(path, "")] + changed) / (4 + checked)
        found[path] = max(-math.log(1 - min(share, 0.95)), 1 / LONGEST_WEEKS)
    return found


def _price(rates: dict[str, float], weekly: float) -> float:
    """The index at which pages of these rates would take so many fetches a week, by bisection."""
    if math.isinf(weekly) or not rates:
        return 0.0
    counts = Counter(round(rate, 3) for rate in rates.values())
    low, high = 1e-4, 60.0
    for _ in range(16):
        middle = math.sqrt(low * high)
        spent = sum(count * _frequency(rate, middle) for rate, count in counts.items())
        low, high = (middle, high) if spent > weekly else (low, middle)
    return low


def _frequency(rate: float, price: float) -> float:
    """Fetches a week of a page that is fetched whenever V(tau) has reached the price; at most one."""
    grown = price * rate
    if grown >= 1:
        return 0.0
    at = min(bisect_left(_GROWN, grown), len(_GROWN) - 1)
    share = (grown - _GROWN[at - 1]) / (_GROWN[at] - _GROWN[at - 1])
    return min(1.0, rate / max(_DOUBTS[at - 1] + share * (_DOUBTS[at] - _DOUBTS[at - 1]), 1e-9))


def _grown(sound: float) -> float:
    """1 - exp(-x)(1 + x) for the probability exp(-x) that nothing has changed."""
    return 1 - sound * (1 - math.log(max(sound, 1e-9)))


_DOUBTS = [0.0, *(1e-3 * 1.02**step for step in range(530))]
_GROWN = [_grown(math.exp(-doubt)) for doubt in _DOUBTS]
"""A table of that function, for its inverse; doubt up to 36."""


def _value(sound: float, fresh: float, rate: float, price: float) -> float:
    """What fetching a page is worth, in weeks of a page that is as stored."""
    return (SIGNALS * (1 - sound) + (1 - SIGNALS) * _grown(sound)) / rate + IN_TIME * price * fresh


def _there(server: Server, visit: Visit) -> dict[str, float]:
    """How likely pages are there that no stored copy links to, or whose directory has lost others."""
    depth = server.graph.depth
    found = {
        path: UNLINKED for path in server.pages if path not in depth and not visit.has_seen(path, server)
    }
    if visit.gone:
        gone = Counter(raw_directory(path) for path in visit.gone)
        alive = Counter(raw_directory(path) for path in visit.outcomes)
        for path in server.pages:
            name = raw_directory(path)
            if gone[name] and not visit.has_seen(path, server):
                found[path] = found.get(path, 1.0) * (1 + alive[name]) / (1 + alive[name] + gone[name])
    return found


def _worth(
    server: Server, visit: Visit, belief: Belief, rates: dict[str, float], price: float
) -> dict[str, float]:
    """Of every page that this visit has not fetched."""
    ledger = _ledger(server)
    found = {
        path: _value(belief.sound(path), belief.fresh[path], rates[path], price)
        for path in server.pages
        if not visit.has_seen(path, server)
    }
    for path, there in _there(server, visit).items():
        found[path] *= there
    told = server.derived(gates)
    behind: defaultdict[str, float] = defaultdict(float)
    nothing: dict[int, Track] = {}
    for path, worth in found.items():
        directory, situation, _ = belief.cells[path]
        if situation % 3 == OPEN:
            continue
        opened = situation - situation % 3 + OPEN
        odds = ledger.odds(directory, opened, habit(ledger.tracks.get(path, nothing), opened))
        then = _value(math.exp(-belief.doubt[path]) * (1 - odds), odds, rates[path], price)
        gain = then - max(worth, price)
        if gain > 0:
            for gate in told.get(path, ()):
                if gate in found:
                    behind[gate] += gain
    for gate, gain in behind.items():
        found[gate] += min(gain, MOST_TOLD) * belief.fresh[gate]
    return found
