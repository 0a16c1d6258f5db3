"""Searches that are made up at random, asked of pages and API: none may fail, and none may take long.

    python -m benchmarks.fuzz_searches [--searches 10000] [--articles 20000] [--seed 1] [--seconds 2]

The articles have words of a natural distribution in several languages, Chinese among them. Each search goes
to a page or to the API. An answer of 200, 400 or 503 is right; searches that were stopped for their time are
those of 503. Exits with 1 when an answer was another, or took longer.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from benchmarks.database import own_database

PAGES = ("/search/", "/search/", "/articles/", "/me/", "/graph/", "/feeds/")
API = ("/api/articles/", "/api/articles/", "/api/graph/search/", "/api/feeds/")
SIGNS = (
    *"-\"'()|&!:*<>\\~%_@#.,;/?[]{}=+^$`\t", "or", "OR", "AND", "NOT", "<->", "::tsquery", "--", '""',
)  # fmt: skip
ODD = (
    "\u200b", "\u202e", "𝔘", "ß", "İ", "\u0301", "é" * 40, "\ufffd", "1" * 60, "a" * 290, "x-y-z",
    "a@b.org/c?d",
)  # fmt: skip
LONG = ("-", '"', "or ", "学", "(", "-a ", "a or ", "\\", "&|")


def main() -> int:
    """Fill a database, ask, and print what went wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--searches", type=int, default=10_000)
    parser.add_argument("--articles", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    words = vocabulary(chance)
    with own_database("searches", {"fsync": "off"}, LOG_LEVEL="ERROR"):
        from django.conf import settings

        settings.STORAGES = {
            **settings.STORAGES,
            "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
        }
        fill(chance, words, options.articles)
        return ask(chance, words, options)


def ask(chance: random.Random, words: list[str], options: argparse.Namespace) -> int:
    """Ask all searches; return the exit status."""
    from django.test import Client

    from tests.factories import make_user

    client = Client(raise_request_exception=False, SERVER_NAME="localhost")
    client.force_login(make_user("reader", staff=True))
    statuses: Counter[int] = Counter()
    faults: list[str] = []
    times: list[float] = []
    for number in range(options.searches):
        query = search(chance, words)
        path = chance.choice(API if number % 2 else PAGES)
        parameters = {"q": query}
        if path.endswith("articles/"):
            parameters |= chance.choice(({}, {}, {"sort": "relevance"}, {"language": "de"}, {"page": "3"}))
        began = time.perf_counter()
        typing = path == "/search/" and chance.random() < 0.5
        answer = client.get(path, parameters, headers={"HX-Request": "true"} if typing else {})
        times.append(time.perf_counter() - began)
        statuses[answer.status_code] += 1
        if answer.status_code not in {200, 400, 404, 503} or times[-1] > options.seconds:
            faults.append(f"{answer.status_code} after {times[-1]:.2f} s: {path} {query[:200]!r}")
    times.sort()
    counts = ", ".join(f"{count} times {status}" for status, count in sorted(statuses.items()))
    p50, p99 = (1000 * times[int(share * len(times))] for share in (0.5, 0.99))
    print(f"{counts}; p50 {p50:.0f} ms, p99 {p99:.0f} ms, longest {times[-1]:.2f} s; {len(faults)} wrong")
    print(*faults[:20], sep="\n")
    return 1 if faults else 0


def vocabulary(chance: random.Random) -> list[str]:
    """Return words, the frequent ones first."""
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    latin = ["".join(chance.choices(letters, k=chance.randrange(2, 11))) for _ in range(18_000)]
    chinese = [
        "".join(chr(0x4E00 + int(chance.paretovariate(0.6)) % 4000) for _ in range(3)) for _ in range(2000)
    ]
    words = [*latin, *chinese, *("".join(chance.choices("абвгдежзиклмнопрст", k=6)) for _ in range(2000))]
    chance.shuffle(words)
    return ["the", "and", "of", "der", "die", "und", "la", "de", *words]


def pick(chance: random.Random, words: list[str]) -> str:
    """Return a word, a frequent one more often."""
    return words[min(int(chance.paretovariate(0.5)) - 1, len(words) - 1) if chance.random() < 0.9 else -1]


def fill(chance: random.Random, words: list[str], count: int) -> None:
    """Store articles of a few hundred words."""
    from articles.models import Article
    from crawler.text.keys import digest
    from tests.factories import make_feed

    feed, now = make_feed(), datetime.now(UTC)
    rows: list[Any] = []
    for number in range(count):
        text = " ".join(pick(chance, words) for _ in range(chance.randrange(20, 500)))
        rows.append(
            Article(
                feed=feed, identity=str(number), identity_key=digest(str(number)), title=text[:60], text=text,
                text_length=len(text), language=chance.choice(("en", "de", "fr", "zh", "ru", "")),
                published=now, dating="feed", fetched=now,
            )
        )  # fmt: skip
        if len(rows) == 1000:
            Article.objects.bulk_create(rows)
            rows.clear()
    Article.objects.bulk_create(rows)


def search(chance: random.Random, words: list[str]) -> str:
    """Make up a search."""
    manner = chance.random()
    if manner < 0.05:
        return chance.choice(LONG) * chance.choice((3, 50, 300, 3000))
    pieces = []
    for _ in range(chance.choice((1, 2, 3, 5, 15, 40, 900))):
        kind = chance.random()
        word = pick(chance, words)
        if kind < 0.55:
            pieces.append(word)
        elif kind < 0.7:
            pieces.append(f'"{word} {pick(chance, words)}"')
        elif kind < 0.8:
            pieces.append(f"-{word}")
        elif kind < 0.88:
            pieces.append("or")
        elif kind < 0.96:
            pieces.append(chance.choice(SIGNS))
        else:
            pieces.append(chance.choice(ODD))
    return chance.choice((" ", " ", " ", "")).join(pieces)


if __name__ == "__main__":
    sys.exit(main())
