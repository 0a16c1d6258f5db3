"""`adaptive`: pages change for causes of their own, or for one that they share with their group. Pure.

In each week (the time between two visits) a group of pages, those of one section with their gates in one
state, has a level: the share of its pages that a shared cause has changed. A level is known as probabilities
over LEVELS. A fetched page says something of this week's level of its group, and of the levels of the weeks
since its copy was made. From the levels, and from what a page has done before, follows whether its copy is
sound. Fetched is what gains most: a copy made sound counts 1, a change found in its very week 1.5 more. A
fetch is saved if it is more likely to be needed next week.

Source: assumed-density filtering over a mixture of causes; own rates by Gamma-Poisson mixtures with
empirical Bayes priors.
"""

from __future__ import annotations

import math
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import orjson

from recrawl.methods.arrays import Flags, Floats, Numbers, exp, log, sums
from recrawl.methods.base import Method, unfetched
from recrawl.methods.gates import gates_of
from recrawl.methods.listings import naming_new
from recrawl.visiting.known_server import KnownServer, OpenVisit

LEVELS = np.array([0.0, 0.05, 0.2, 0.5, 0.95])
SPREAD = np.array([0.5, 0.2, 0.1, 0.2])
"""How the probability of a shared cause is spread over the levels above 0."""
UNSEEN, CLOSED, OPEN, LISTING = range(4)
SITUATIONS = 9
FIRST_ODDS = (0.02, 0.01, 0.3, 0.02, 0.85, 0.45, 0.85, 0.8, 0.02)
"""Probability of a shared cause by situation: unseen gates with the top page unseen, as stored, changed;
closed; open with the top page unseen, as stored, changed; listing; and the top page itself. The third was
tuned on every other history (0.04: 14.1 % stale and 74.8 % found in their week, 0.15: 10.9 and 73.9, 0.3:
10.3 and 71.1), as was IMAGINED_WEEKS (3: 10.9 and 73.9, 1.5: 10.1 and 72.5)."""
SITE_WEIGHT, SECTION_WEIGHT, NEIGHBOUR_WEIGHT = 4.0, 8.0, 10.0
"""Weights of priors, in groups seen: of the first odds, of the site's counts, of other groups this week."""
ANSWER, ANSWER_WEIGHT = 0.8, 4.0
"""The share of its group's changes that a page takes part in, and the weight of that prior in weeks."""
SITE_RATE, SITE_RATE_WEEKS, SECTION_RATE_WEEKS = 0.2, 20.0, 10.0
"""Changes of its own in SITE_RATE_WEEKS before anything is known; weight of the site's rate for a section."""
IN_TIME = 1.5
"""The worth of a change found in its week, beside that of a copy made sound."""
# A fetch that gains less is better kept for a week in which the site changes.
MIN_GAIN = 0.02
UNLINKED = 0.1
"""The probability that a page exists to which no stored copy leads."""
MAX_SAVED_WEEKS, SAVED_A_WEEK = 8.0, 2.0
"""Weeks' budget that may be saved: the second more with each week, up to the first."""
ROUND = 0.08
"""The share of a week's budget that is fetched before the beliefs are computed again."""
IMAGINED_WEEKS, BURST = 1.5, 0.1
"""Weeks imagined before any has passed, each with this probability of a burst. With 0.2 the replays left
9.4 % stale instead of 11.5; but of the first eleven weeks' budget 30 % stayed unspent, and a tenth of the
changes that are found now were not."""
MAX_DEMANDS = 52
LEAST = 0.001
"""The least probability of any outcome, so that none is impossible."""
ANNOUNCED = (3.0, 0.02, 4.0)
"""Of the third number each: changed and unchanged pages that a source announces, before it is known."""
# The column is unpacked to a bound, since an imported archive may hold anything.
MAX_PACKED_BYTES = 64 * 1024 * 1024
VERSION = 4
"""Of what is packed; the methods before this one had 1 to 3."""

Key = tuple[str, int]
"""A group: the name of its section and the situation of its gates."""


@dataclass(slots=True)
class Week:
    """A past week: the levels of its groups, one row each, and the group of every page that was known."""

    number: float
    levels: Floats
    member: dict[str, int]


@dataclass(slots=True)
class Fetch:
    """A fetch of this visit: the page's number, the age of its copy in weeks, and whether it had changed.

    `sound` is the probability that the copy was right before this week.
    """

    page: int
    changed: bool
    age: float
    sound: float = 1.0


@dataclass(slots=True)
class Causes:
    """The state of the method between visits to a site.

    `pages` has for each page its changes by own cause, the weeks between its fetches, and its answers and
    chances to answer to changes of its group.
    """

    pages: dict[str, list[float]] = field(default_factory=dict)
    weeks: list[Week] = field(default_factory=list)
    counts: dict[str, list[float]] = field(default_factory=dict)
    demands: list[float] = field(default_factory=list)
    """The probable number of changes in each of the last weeks."""
    trust: dict[str, list[float]] = field(default_factory=dict)
    """By source: changed pages that it announced and not, unchanged pages that it announced and not."""

    def packed(self) -> bytes:
        """Pack it as bytes: paths once, the groups of each week in their order."""
        paths = list(dict.fromkeys(path for week in self.weeks for path in week.member))
        weeks = [
            [week.number, np.round(week.levels, 5).tolist(), [week.member.get(path, -1) for path in paths]]
            for week in self.weeks
        ]
        plain = [VERSION, self.pages, paths, weeks, self.counts, self.demands, self.trust]
        # The levels are rounded above: digits that mean nothing do not compress.
        return zlib.compress(orjson.dumps(plain))

    @classmethod
    def unpacked(cls, packed: bytes) -> Causes:
        """Unpack the result of `packed`. Anything else gives an empty one."""
        try:
            version, pages, paths, rows, counts, demands, trust = orjson.loads(
                zlib.decompressobj().decompress(packed, MAX_PACKED_BYTES)
            )
            weeks = [
                Week(
                    number,
                    np.array(levels).reshape(-1, LEVELS.size),
                    {path: group for path, group in zip(paths, groups, strict=True) if group >= 0},
                )
                for number, levels, groups in rows
            ]
        # Of another version, or damaged: the method learns anew, and no visit fails by it.
        except (zlib.error, ValueError, TypeError):
            return cls()
        return cls(pages, weeks, counts, demands, trust) if version == VERSION else cls()

    def log_odds_ratio(self, source: str, announced: bool) -> float:
        """Return the log likelihood ratio of a change, given that a source announces a page (or does not)."""
        hits, missed, false, quiet = self.trust.get(source, (0.0, 0.0, 0.0, 0.0))
        right = (ANNOUNCED[0] + hits) / (ANNOUNCED[2] + hits + missed)
        wrong = (ANNOUNCED[1] + false) / (ANNOUNCED[2] + false + quiet)
        return math.log(right / wrong if announced else (1 - right) / (1 - wrong))


class Adaptive(Method):
    """The default method. It keeps its `Causes` in the server's memory."""

    name = "adaptive"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        # What the top page links to anew decides which groups are open, so that it comes first where it can.
        is_small = len(server.pages) <= MAX_SAVED_WEEKS * visit.weekly
        top_is_due = is_small or visit.weekly * (visit.now - _copied(server, visit, server.top)) >= 2
        if top_is_due and unfetched([server.top], server, visit):
            return [server.top]
        run = Run(server, visit)
        belief = run.belief()
        gains = _gains(run, belief)
        order = np.lexsort((np.arange(gains.size), -gains))
        order = order[~run.seen[order]]
        # Without a budget the order is all that a method gives.
        if math.isinf(visit.weekly):
            return [run.gates.paths[page] for page in order.tolist()]
        batch = _batch(run, belief, gains, order.tolist(), visit)
        return [run.gates.paths[page] for page in batch]

    def finish(self, server: KnownServer, visit: OpenVisit) -> None:
        Run(server, visit).end()


def causes_of(server: KnownServer) -> Causes:
    """Return what is kept of a server. An empty one is stored if there is none."""
    causes: Causes = server.memory.setdefault("adaptive", Causes())
    return causes


def estimate_missed(server: KnownServer, visit: OpenVisit) -> tuple[float, float]:
    """Return the changes of this week that the visit has probably missed, and the share of stale copies."""
    run = Run(server, visit)
    belief = run.belief()
    unseen = ~run.seen
    stale = 1 - belief.sound * (1 - belief.change_odds)
    return float(belief.change_odds[unseen].sum()), float(stale[unseen].sum()) / max(len(server.pages), 1)


def _batch(run: Run, belief: PageBeliefs, gains: Floats, order: Sequence[int], visit: OpenVisit) -> list[int]:
    """Return the pages to fetch now, fewer of a group than were fetched of it in this visit."""
    # Of at least two, so that a small budget is not spent page by page with a round each.
    size = max(2, int(ROUND * visit.weekly))
    budget_left = visit.budget
    demands = sorted(run.causes.demands)
    max_saved = visit.weekly * min(MAX_SAVED_WEEKS, SAVED_A_WEEK * (1 + len(demands)))
    fetched_counts = belief.fetched_counts
    chosen: Counter[int] = Counter()
    batch: list[int] = []
    gain_of = gains.tolist()
    for page in order:
        if gain_of[page] < MIN_GAIN:
            break
        if visit.saves and gain_of[page] < (1 + IN_TIME) * _needed(
            demands, budget_left, visit.weekly, max_saved
        ):
            break
        budget_left -= 1
        group = int(belief.group[page])
        # No more of a group than it has shown so far: one fetch tells whether the rest of it changed.
        if chosen[group] < max(1, fetched_counts[group]):
            chosen[group] += 1
            batch.append(page)
            if len(batch) >= size:
                return batch
    # Nothing is worth saving for: what exceeds the reserve would be lost with the next week.
    if not batch:
        spare = visit.budget - (max_saved if visit.saves else 0.0)
        batch = list(order[: max(0, int(min(size, spare)))])
    return batch


def _needed(demands: Sequence[float], budget_left: float, weekly: float, max_saved: float) -> float:
    """Return the probability that next week's demand passes what could be fetched then."""
    if weekly <= 0:
        return 0.0
    bursts = len(demands) - bisect_left(demands, min(budget_left, max_saved) + weekly + 1e-9)
    room = max(0.0, max_saved - budget_left) / weekly
    imagined = IMAGINED_WEEKS * (1 - (1 - BURST) ** (1 + room))
    return float((imagined + bursts) / (IMAGINED_WEEKS + len(demands)))


def _gains(run: Run, belief: PageBeliefs) -> Floats:
    """Return the stale pages that a fetch of each page is expected to be worth."""
    stale = 1 - belief.sound * (1 - belief.change_odds)
    return (stale + IN_TIME * belief.change_odds) * np.where(run.gates.reached, 1.0, UNLINKED)


def _copied(server: KnownServer, visit: OpenVisit, path: str) -> float:
    """Return the time of a page's copy before this visit."""
    outcome = visit.outcomes.get(path)
    if outcome is not None:
        return visit.now - outcome.age
    page = server.pages.get(path)
    return page.fetched if page is not None else -math.inf


@dataclass(slots=True)
class PageBeliefs:
    """Beliefs about every page at one moment.

    `sound`: its copy was right before this week; `own_odds`: no cause of its own changes it this week;
    `change_odds`: it has changed this week. `group` is the number of its group; `levels` and `expected` are
    each group's probabilities and mean, and `fetched_counts` its fetches in this visit.
    """

    sound: Floats
    own_odds: Floats
    change_odds: Floats
    group: Numbers
    keys: list[Key]
    levels: Floats
    expected: Floats
    fetched_counts: list[int]


class Run:
    """The reckoning of one visit: arrays by page, and the past weeks as this visit's fetches revise them.

    It is made anew from the visit's outcomes, so that a visit can be resumed at any time.
    """

    def __init__(self, server: KnownServer, visit: OpenVisit) -> None:
        self.causes, self.server, self.visit = causes_of(server), server, visit
        self.gates = gates = server.derived(gates_of)
        size = len(gates.paths)
        self.top = gates.number.get(server.top, -1)
        self.copied = np.array([_copied(server, visit, path) for path in gates.paths])
        fetched = np.array([server.pages[path].fetched for path in gates.paths])
        self.joined: Flags = (fetched >= visit.now) & (self.copied >= visit.now)
        self.seen: Flags = self.joined.copy()
        self.changed: Flags = np.zeros(size, np.bool_)
        self.is_fetched: Flags = np.zeros(size, np.bool_)
        self.open_gates: Flags = np.zeros(size, np.bool_)
        self.naming: Flags = np.zeros(size, np.bool_)
        if self.joined.any():
            self.naming[gates.numbers(naming_new(server, visit))] = True
        self.quiet = np.maximum(visit.now - self.copied - 1, 0.0)
        self.past = [Week(week.number, week.levels.copy(), week.member) for week in self.causes.weeks]
        self.members = [
            np.array([week.member.get(path, -1) for path in gates.paths], np.int64) for week in self.past
        ]
        self.pages = np.array([self.causes.pages.get(path, (0.0, 0.0, 0.0, 0.0)) for path in gates.paths])
        self.pages = self.pages.reshape(size, 4)
        self.likelihood_terms: dict[int, tuple[bool, float, float]] = {}
        self.fetches = [
            Fetch(gates.number[path], outcome.changed, max(outcome.age, 0.0))
            for path, outcome in visit.outcomes.items()
            if path in gates.number
        ]
        self._rates()
        self._learn()

    def _rates(self) -> None:
        """Compute own rates and answers from the pages' histories. A section's rate weighs as one week."""
        gates = self.gates
        changes, weeks = self.pages[:, 0], self.pages[:, 1]
        # A prior of 0.2 changes in 20 weeks, so that one change of a new site does not make it restless.
        site = (SITE_RATE + changes.sum()) / (SITE_RATE_WEEKS + weeks.sum())
        by_section = len(gates.sections)
        local = (SECTION_RATE_WEEKS * site + sums(gates.section, changes, by_section)) / (
            SECTION_RATE_WEEKS + sums(gates.section, weeks, by_section)
        )
        self.shape, self.span = local[gates.section] + changes, 1 + weeks
        self.answer_rate = (ANSWER_WEIGHT * ANSWER + self.pages[:, 2]) / (ANSWER_WEIGHT + self.pages[:, 3])

    def _learn(self) -> None:
        """Learn from the visit's fetches: of this week's levels first, then of the past weeks with these."""
        self.seen[self.gates.numbers(self.visit.failed)] = True
        for fetch in self.fetches:
            page = fetch.page
            self.seen[page] = self.is_fetched[page] = True
            self.changed[page] = fetch.changed
            fetch.sound = self._sound_of(page)
            # A gate that was stale already shows nothing of this week.
            self.open_gates[page] = fetch.changed and (fetch.age <= 1 or fetch.sound > 0.5)
            self._add_term(fetch)
        if not self.fetches:
            return
        belief = self.belief()
        for fetch in self.fetches:
            fetch.sound = self._sound_of(fetch.page)
            self._add_term(fetch)
            self._revise_weeks(fetch, belief)

    def _without(self, fetch: Fetch, belief: PageBeliefs) -> tuple[float, float]:
        """Return the level that a page's group is expected to have without this fetch, and the probability
        that the page has changed this week.
        """
        _, factor, answer_rate = self.likelihood_terms[fetch.page]
        follows = (1 - LEAST) * (1 - answer_rate * LEVELS) + LEAST
        chance = 1 - factor * follows if fetch.changed else follows
        level = belief.levels[belief.group[fetch.page]] / np.maximum(chance, 1e-9)
        expected = float((level * LEVELS).sum() / level.sum())
        own_odds = float(belief.own_odds[fetch.page])
        return expected, 1 - own_odds * (1 - answer_rate * expected)

    def _add_term(self, fetch: Fetch) -> None:
        page = fetch.page
        passed = self.span[page] + self.quiet[page]
        own_odds = float((passed / (passed + 1)) ** self.shape[page])
        self.likelihood_terms[page] = (fetch.changed, fetch.sound * own_odds, float(self.answer_rate[page]))

    def _revise_weeks(self, fetch: Fetch, belief: PageBeliefs) -> None:
        """Revise the levels of the weeks since a page's copy by what its fetch has shown."""
        page, row = fetch.page, self.pages[fetch.page]
        follows = (1 - LEAST) * (1 - self.answer_rate[page] * LEVELS) + LEAST
        _, change_odds = self._without(fetch, belief)
        sound_odds = fetch.sound * (1 - change_odds)
        stale_odds = max(1 - sound_odds, 1e-9)
        for week, members in zip(self.past, self.members, strict=True):
            group = members[page]
            if group < 0 or week.number <= self.copied[page]:
                continue
            level = week.levels[group]
            unchanged_odds = float((level * follows).sum())
            if fetch.changed:
                row[2:] += min(1.0, (1 - unchanged_odds) / stale_odds)
                revised = level * np.maximum(
                    1 - follows * min(sound_odds / max(unchanged_odds, 1e-9), 1.0), 1e-12
                )
            else:
                row[3] += (level * LEVELS).sum()
                revised = level * follows
            week.levels[group] = revised / revised.sum()

    def _count(self, fetch: Fetch, belief: PageBeliefs) -> float:
        """Count a fetch for its page. Returns the probability that it found a change of this week."""
        page, row = fetch.page, self.pages[fetch.page]
        row[1] += fetch.age
        expected, change_odds = self._without(fetch, belief)
        if not fetch.changed:
            row[3] += expected
            return 0.0
        stale_odds = max(1 - fetch.sound * (1 - change_odds), 1e-9)
        own_odds = (self.span[page] / (self.span[page] + fetch.age)) ** self.shape[page]
        row[0] += min(1.0, (1 - own_odds) / stale_odds)
        answered = min(1.0, self.answer_rate[page] * expected / stale_odds)
        row[2] += answered
        row[3] += max(answered, expected)
        return float(min(1.0, change_odds / stale_odds))

    def _sound_of(self, page: int) -> float:
        sound = (self.span[page] / (self.span[page] + self.quiet[page])) ** self.shape[page]
        for week, members in zip(self.past, self.members, strict=True):
            group = members[page]
            if group >= 0 and week.number > self.copied[page]:
                sound *= 1 - self.answer_rate[page] * float((week.levels[group] * LEVELS).sum())
        return float(sound)

    def belief(self) -> PageBeliefs:
        """Compute what is believed of every page now."""
        span, shape = self.span, self.shape
        sound = exp(shape * log(span / (span + self.quiet)))
        for week, members in zip(self.past, self.members, strict=True):
            means = np.append(week.levels @ LEVELS, 0.0)
            applies = (members >= 0) & (week.number > self.copied)
            sound *= np.where(applies, 1 - self.answer_rate * means[members], 1.0)
        passed = span + self.quiet
        own_odds = exp(shape * log(passed / (passed + 1)))
        group, keys, states = self._groups()
        levels, fetched = self._levels(group, keys, states)
        expected = levels @ LEVELS
        change_odds = 1 - own_odds * (1 - self.answer_rate * expected[group])
        if self.visit.signals:
            change_odds = self._announced(change_odds)
        return PageBeliefs(sound, own_odds, change_odds, group, keys, levels, expected, fetched)

    def _announced(self, change_odds: Floats) -> Floats:
        """Move the odds of pages that sources name, by how reliable each source has been."""
        shifts = np.zeros(change_odds.size)
        number = self.gates.number
        for source, announcements in self.visit.signals.items():
            shift = {announced: self.causes.log_odds_ratio(source, announced) for announced in (False, True)}
            for path, announced in announcements.items():
                if path in number:
                    shifts[number[path]] += shift[announced]
        # What is certain could not be moved by any source.
        odds = np.minimum(change_odds, 1 - LEAST)
        return odds / (odds + (1 - odds) * exp(-shifts))

    def _groups(self) -> tuple[Numbers, list[Key], list[int]]:
        """Return each page's group, and each group's section with its situation, and its gates' state."""
        gates = self.gates
        gate_counts = np.maximum(gates.count, 1)
        state = np.where(
            (gates.count > 0) & (2 * gates.count_of(self.is_fetched & ~self.changed) >= gate_counts),
            CLOSED,
            UNSEEN,
        )
        state[gates.count_of(self.open_gates) > 0] = OPEN
        state[self.naming] = LISTING
        top_state = 0
        if self.top >= 0:
            state[self.top] = UNSEEN
            if self.is_fetched[self.top]:
                top_state = 2 if self.changed[self.top] else 1
        situation = np.choose(state, [np.full(state.size, top_state), 3, 4 + top_state, 7])
        if self.top >= 0:
            situation[self.top] = 8
        code = gates.section * SITUATIONS + situation
        codes, group = np.unique(code, return_inverse=True)
        keys = [(gates.sections[value // SITUATIONS], int(value % SITUATIONS)) for value in codes.tolist()]
        kinds = (UNSEEN, UNSEEN, UNSEEN, CLOSED, OPEN, OPEN, OPEN, LISTING, SITUATIONS)
        return group.reshape(-1), keys, [kinds[situation] for _, situation in keys]

    def _levels(self, group: Numbers, keys: list[Key], states: list[int]) -> tuple[Floats, list[int]]:
        """Return the probabilities of each group's level, and its number of fetches in this visit."""
        prior = np.array([self._prior(key) for key in keys]).reshape(len(keys), LEVELS.size)
        likelihood = np.zeros_like(prior)
        fetched_counts = [0] * len(keys)
        for page, (changed, sound_odds, answer_rate) in self.likelihood_terms.items():
            follows = (1 - LEAST) * (1 - answer_rate * LEVELS) + LEAST
            chance = 1 - sound_odds * follows if changed else follows
            likelihood[group[page]] += np.log(np.maximum(chance, 1e-9))
            fetched_counts[int(group[page])] += 1
        # Scaled to the greatest before exp: hundreds of factors below 1 underflow together.
        likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True)) if len(keys) else likelihood
        levels = _normal(prior * likelihood)
        count = np.array(fetched_counts, np.float64)
        weight, kind = count / (count + 2), np.array(states)
        for state in set(states):
            in_state = kind == state
            weighted = weight[in_state, None] * levels[in_state]
            weighted_others = weighted.sum(axis=0) - weighted
            weights = weight[in_state].sum() - weight[in_state]
            pull = NEIGHBOUR_WEIGHT * np.minimum(1.0, weights)[:, None]
            mean = weighted_others / np.maximum(weights, 1e-9)[:, None]
            prior[in_state] = (prior[in_state] + pull * mean) / (1 + pull)
        return _normal(prior * likelihood), fetched_counts

    def _prior(self, key: Key) -> Floats:
        section, situation = key
        odds = FIRST_ODDS[situation]
        first = np.append(1 - odds, odds * SPREAD)
        counts = self.causes.counts
        site = SITE_WEIGHT * first + np.array(counts.get(f"{situation}", (0.0,) * LEVELS.size))
        site /= site.sum()
        local = SECTION_WEIGHT * site + np.array(counts.get(f"{situation} {section}", (0.0,) * LEVELS.size))
        total: Floats = local / local.sum()
        return total

    def end(self) -> None:
        """Keep what this visit has taught."""
        causes, gates = self.causes, self.gates
        belief = self.belief()
        waiting = belief.change_odds[~self.seen]
        # Only probable changes: thousands of pages at one percent each are no demand that fetches could meet.
        demand = float(waiting[waiting >= 0.5].sum())
        demand += sum(self._count(fetch, belief) for fetch in self.fetches)
        causes.demands = [*causes.demands, demand][-MAX_DEMANDS:]
        for (section, situation), level, fetched in zip(
            belief.keys, belief.levels, belief.fetched_counts, strict=True
        ):
            for name in (f"{situation}", f"{situation} {section}"):
                if fetched:
                    share = fetched / (fetched + 1)
                    counts = causes.counts.get(name, [0.0] * LEVELS.size)
                    causes.counts[name] = (np.array(counts) + share * level).tolist()
        for source, announcements in self.visit.signals.items():
            trust = causes.trust.setdefault(source, [0.0] * 4)
            for path in announcements.keys() & self.visit.outcomes.keys():
                trust[(0 if self.visit.outcomes[path].changed else 2) + (not announcements[path])] += 1
        causes.pages = {
            path: row for path, row in zip(gates.paths, self.pages.tolist(), strict=True) if any(row)
        }
        waits = ~(self.joined | self.is_fetched)
        member = {gates.paths[page]: int(belief.group[page]) for page in np.nonzero(waits)[0].tolist()}
        now = self.visit.now
        oldest = min((page.fetched for page in self.server.pages.values()), default=now)
        weeks = [*self.past, Week(now, belief.levels, member)][-MAX_DEMANDS:]
        # A week before the oldest copy can explain nothing any more.
        causes.weeks = [week for week in weeks if week.number > oldest and week.member]


def _normal(rows: Floats) -> Floats:
    """Scale rows to sums of 1."""
    # A row of zeros stays one, instead of a row of NaN that spreads to all groups.
    scaled: Floats = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
    return scaled
