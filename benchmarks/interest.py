"""SIMULATION: does the model learn what invented subscribers care for, and what do simpler ways reach?

    python -m benchmarks.interest [--seeds 1 2 3] [--subscribers 16] [--sessions 60] [--write LOG.jsonl]

Articles, subscribers and clicks are invented, so that the interests behind the clicks are known. There are
three kinds of subscribers, as many of each:

- `words`: like and dislike topics, which show in keywords alone. Keywords only should do well here.
- `sources`: like and dislike feeds, whatever they write. Source affinity should do well here.
- `mixed`: a little of everything: topics, categories, authors, and single feeds.

Lists are shown newest first and read from the top: how far an article is down lowers its chance to be looked
at (position bias), so the clicks favour newest first. Half-way, every subscriber loses one liking and gains
another (drift). A third of what makes a click is chance.

With --shared it is a news site instead: many people who open little each, articles with an appeal to
everybody, likings for categories, and one opening in each list.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import orjson

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from articles.interest.evaluation.events import Log, LoggedAction
from articles.interest.evaluation.replay import Evaluation, evaluate
from articles.interest.evaluation.report import table
from articles.interest.facts import Facts

KINDS = ("words", "sources", "mixed")
TOPICS, FEEDS, CATEGORIES, WORDS_OF_TOPIC, COMMON_WORDS = 24, 40, 8, 30, 400
HOUR = 3600.0
START = 1_767_225_600.0  # 2026-01-01


@dataclass(slots=True)
class Tastes:
    """What one simulated subscriber cares for: log odds by topic, category, author and feed."""

    kind: str
    likes: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Made:
    """A simulated article: what it is about (`traits`, which no ranker sees) and what is known of it."""

    traits: tuple[str, ...]
    facts: Facts


@dataclass(frozen=True, slots=True)
class Size:
    """How much is simulated: subscribers of each kind, lists of each, articles in a list."""

    subscribers: int = 16
    sessions: int = 60
    articles: int = 30


def simulated_log(seed: int, size: Size = Size(), kinds: tuple[str, ...] = KINDS) -> Log:
    """A log of invented subscribers, named after their kind; the same for the same seed."""
    random = np.random.default_rng(seed)
    world = _World(random)
    log = Log(f"SIMULATION, seed {seed}")
    people = {f"{kind}-{i}": _tastes(random, kind) for kind in kinds for i in range(size.subscribers)}
    for session in range(size.sessions):
        now = START + session * 12 * HOUR
        if session == size.sessions // 2:
            for tastes in people.values():
                _drift(random, tastes)
        fresh = {f"a{session}-{i}": world.article(now) for i in range(size.articles * 2)}
        log.articles.update((key, made.facts) for key, made in fresh.items())
        for name, tastes in people.items():
            keys = [str(key) for key in random.choice(list(fresh), size.articles, replace=False)]
            keys.sort(key=lambda key: -(fresh[key].facts.published or 0.0))
            _read(random, log, name, tastes, now=now, shown=[(key, fresh[key]) for key in keys])
    # Every list was logged with its openings; people read at the same time.
    return Log(log.name, log.ordered(), log.articles)


class _World:
    """Feeds with their topics, categories and authors, and the words of topics."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._mix = random.dirichlet(np.full(TOPICS, 0.25), FEEDS)
        self._category_of = random.integers(0, CATEGORIES, TOPICS)

    def article(self, now: float) -> Made:
        """An article of the twelve hours before `now`: one topic or two, ten keywords, half common."""
        random = self._random
        feed = int(random.integers(0, FEEDS))
        topics = random.choice(TOPICS, 1 + int(random.random() < 0.4), p=self._mix[feed])
        # A tenth of the categories is wrong, as categories are.
        guess = int(random.integers(0, CATEGORIES))
        category = int(self._category_of[topics[0]]) if random.random() < 0.9 else guess
        author = feed * 2 + int(random.integers(0, 3))  # the third writes for the next feed, too
        words = [(f"t{topics[i % len(topics)]}w{_zipf(random, WORDS_OF_TOPIC)}", 3.0) for i in range(5)]
        words += [(f"common{_zipf(random, COMMON_WORDS)}", 1.5) for _ in range(5)]
        weights = random.gamma(4.0, 0.25, len(words))
        facts = Facts(
            feed=f"feed{feed}",
            categories=[f"category{category}"],
            author=f"author{author}",
            keywords=[(word, base * float(w)) for (word, base), w in zip(words, weights, strict=True)],
            published=now - float(random.random()) * 12 * HOUR,
        )
        traits = (*(f"topic{t}" for t in set(topics.tolist())), facts.feed, *facts.categories, facts.author)
        return Made(traits, facts)


def _zipf(random: np.random.Generator, most: int) -> int:
    """A number below `most`, small ones more often."""
    return int(most ** float(random.random())) - 1


TRAITS = {"topic": TOPICS, "feed": FEEDS, "category": CATEGORIES, "author": FEEDS * 2 + 1}
LIKED = {
    "words": {"topic": (4, 3)},
    "sources": {"feed": (6, 5)},
    "mixed": {"topic": (2, 2), "category": (1, 1), "author": (6, 4), "feed": (2, 2)},
}
"""How many of what a kind of subscriber likes and dislikes."""


def _tastes(random: np.random.Generator, kind: str) -> Tastes:
    tastes = Tastes(kind)
    for trait, (likes, dislikes) in LIKED[kind].items():
        chosen = random.choice(TRAITS[trait], likes + dislikes, replace=False)
        for i, number in enumerate(chosen):
            tastes.likes[f"{trait}{number}"] = 2.0 if i < likes else -2.0
    return tastes


def _drift(random: np.random.Generator, tastes: Tastes) -> None:
    """One liking is lost, another of the same sort comes."""
    liked = [name for name, value in tastes.likes.items() if value > 0]
    lost = str(random.choice(liked))
    del tastes.likes[lost]
    trait = lost.rstrip("0123456789")
    tastes.likes[f"{trait}{random.integers(0, TRAITS[trait])}"] = 2.0


def _read(
    random: np.random.Generator,
    log: Log,
    name: str,
    tastes: Tastes,
    *,
    now: float,
    shown: list[tuple[str, Made]],
) -> None:
    """A list is shown; what is looked at (less the further down) is opened by taste and chance."""
    for key, _ in shown:
        log.add(LoggedAction(now, name, "shown", key, f"{name}@{now:.0f}"))
    for place, (key, made) in enumerate(shown):
        looked_at = random.random() < 1 / (1 + 0.05 * place)
        odds = -2.5 + sum(tastes.likes.get(trait, 0.0) for trait in made.traits) + random.normal(0, 0.7)
        if looked_at and random.random() < 1 / (1 + math.exp(-odds)):
            log.add(LoggedAction(now + 10.0 * (place + 1), name, "opened", key, f"{name}@{now:.0f}"))


def part_of(log: Log, kind: str) -> Log:
    """The subscribers of one kind."""
    events = [event for event in log.events if event.subscriber.startswith(f"{kind}-")]
    return Log(f"{log.name}, subscribers who follow {kind}", events, log.articles)


SHARED_CATEGORIES, SHARED_WORDS, LIVE_HOURS = 16, 3000, 36
SHARED_PEOPLE, SHARED_LISTS, SHARED_HOURS, ARTICLES_AN_HOUR = 600, 2500, 72, 12


def shared_log(seed: int) -> Log:
    """A log of many subscribers who open little each; the same for the same seed.

    What is opened of a list follows the article's appeal to all, with that of its words, the subscriber's
    liking for its category, its age and chance. Subscribers come back as often as in a Zipf distribution.
    """
    random = np.random.default_rng(seed)
    log = Log(f"SIMULATION of shared tastes, seed {seed}")
    of_words = random.normal(0, 0.15, SHARED_WORDS)
    of_categories = random.normal(0, 0.35, SHARED_CATEGORIES)
    number = SHARED_HOURS * ARTICLES_AN_HOUR
    published = np.repeat(np.arange(SHARED_HOURS), ARTICLES_AN_HOUR) * HOUR
    category = random.integers(0, SHARED_CATEGORIES, number)
    words = random.integers(0, SHARED_WORDS, (number, 8))
    appeal = random.normal(0, 0.6, number) + of_categories[category] + of_words[words].sum(1)
    for article in range(number):
        log.articles[f"n{article}"] = Facts(
            categories=[f"c{category[article]}"],
            keywords=[(f"w{word}", 1.0) for word in words[article]],
            published=START + float(published[article]),
        )
    liking = random.normal(0, 0.8, (SHARED_PEOPLE, SHARED_CATEGORIES))
    liking *= random.random((SHARED_PEOPLE, SHARED_CATEGORIES)) < 0.4
    often = np.arange(1, SHARED_PEOPLE + 1) ** -0.5
    for place, now in enumerate(np.sort(random.uniform(12, SHARED_HOURS, SHARED_LISTS)) * HOUR):
        person = int(random.choice(SHARED_PEOPLE, p=often / often.sum()))
        live = np.flatnonzero((published <= now) & (published > now - LIVE_HOURS * HOUR))
        age = (now - published[live]) / HOUR
        freshness = np.exp(-age / 12)
        size = min(int(random.integers(8, 50)), len(live))
        shown = random.choice(len(live), size, replace=False, p=freshness / freshness.sum())
        odds = appeal[live] + liking[person, category[live]] - 0.02 * age
        opened = live[shown[int((odds[shown] + random.gumbel(0, 1, size)).argmax())]]
        at, who, name = START + float(now), f"u{person}", f"l{place}"
        for article in live[shown]:
            log.add(LoggedAction(at, who, "shown", f"n{article}", name))
        log.add(LoggedAction(at + 5, who, "opened", f"n{opened}", name))
    return Log(log.name, log.ordered(), log.articles)


def as_lines(log: Log) -> bytes:
    """The log as `manage.py evaluate_interest` reads it."""
    lines, told = [], set()
    words = {"shown": "impression", "opened": "click"}
    for event in log.ordered():
        line = {"at": event.at, "subscriber": event.subscriber, "event": words[event.kind]}
        line |= {"article": event.article, "list": event.list}
        if event.article not in told:
            told.add(event.article)
            facts = log.articles[event.article]
            line |= {"feed": facts.feed, "category": facts.categories[0], "author": facts.author}
            line |= {"keywords": facts.keywords, "published": facts.published}
        lines.append(orjson.dumps(line))
    return b"\n".join(lines) + b"\n"


def apart(found: Evaluation, other: str, metric: str = "ndcg@10") -> bool:
    """Whether the whole interval of the interest model is above another method's."""
    low, high = found.methods["interest"][metric].low, found.methods[other][metric].high
    return low is not None and high is not None and low > high


def main() -> None:
    """Tables for each seed: all subscribers, then each kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--subscribers", type=int, default=Size().subscribers, help="of each kind")
    parser.add_argument("--sessions", type=int, default=Size().sessions, help="lists of each")
    parser.add_argument("--write", type=Path, metavar="LOG.jsonl", help="the log of the first seed")
    parser.add_argument("--shared", action="store_true", help="many people who share tastes instead")
    options = parser.parse_args()
    if options.shared:
        for seed in options.seeds:
            print(table(evaluate(shared_log(seed))), "\n", flush=True)
        return
    size = Size(options.subscribers, options.sessions)
    print("SIMULATION: invented articles, subscribers and clicks; see the source for what they follow.\n")
    for seed in options.seeds:
        log = simulated_log(seed, size)
        if options.write and seed == options.seeds[0]:
            options.write.write_bytes(as_lines(log))
        found = evaluate(log)
        print(table(found))
        for other in ("newest", "source-affinity", "keywords", "interest-keywords"):
            said = "apart" if apart(found, other) else "NOT apart"
            print(f"nDCG@10, interest above {other}: intervals {said}")
        print()
        for kind in KINDS:
            print(table(evaluate(part_of(log, kind))), "\n", flush=True)


if __name__ == "__main__":
    main()
