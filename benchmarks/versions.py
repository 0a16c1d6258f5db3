"""Disk space of versions of articles, and the time to store and to read them.

    python -m benchmarks.versions [--articles 100000] [--edited 0.2] [--edits 2]

Stores articles of some 2,000 characters as `benchmarks.pages` does, then edits a share of them some times:
a word, a number or a sentence at a time. Prints bytes for each version and article, milliseconds to store a
version and to read all of an article, and the time of the pages that show them.
"""

from __future__ import annotations

import argparse
import random
import time
from datetime import UTC, datetime, timedelta

from benchmarks.database import own_database


def main() -> None:
    """Fill a database and print what versions cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--articles", type=int, default=100_000)
    parser.add_argument("--edited", type=float, default=0.2, help="share of articles that are edited")
    parser.add_argument("--edits", type=int, default=2, help="edits of each of them")
    options = parser.parse_args()
    with own_database("versions", {"fsync": "off"}, ALLOWED_HOSTS="testserver"):
        from django.core.management import call_command

        from benchmarks.pages import fill

        call_command("collectstatic", interactive=False, verbosity=0)
        fill(200, options.articles, 0)
        from articles.models import Article

        number = int(options.articles * options.edited)
        keys = list(Article.objects.order_by("pk").values_list("pk", flat=True)[:number])
        _store(keys, options.edits, options.articles)
        _read(keys)


def _store(keys: list[int], edits: int, articles: int) -> None:
    from django.db import transaction

    from articles.edits.history import Sighting, Text, edit_between, record

    dice, now, before, stored = random.Random(1), datetime.now(UTC), _size(), 0
    began = time.process_time()
    for start in range(0, len(keys), 500):
        with transaction.atomic():
            for key in keys[start : start + 500]:
                old = Text(f"Headline {key}", _text(dice))
                for number in range(edits):
                    new = Text(old.title, _edited(old.text, dice, number))
                    if edit := edit_between(old, new):
                        at = now + timedelta(hours=number + 1)
                        stored += record(key, old, new, Sighting(edit, "page", now, at)) is not None
                    old = new
    took, size, rows = time.process_time() - began, _size() - before, stored + len(keys)
    print(f"{rows} versions of {len(keys)} articles: {size / rows:.0f} bytes a version with its indexes,")
    print(f"{size / len(keys):.0f} bytes an edited article, {size / articles:.0f} bytes an article of all")
    print(f"{1000 * took / max(stored, 1):.2f} ms of processor time to decide and store a version")


def _read(keys: list[int]) -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    from articles.edits.history import versions_of

    began = time.perf_counter()
    for key in keys[:200]:
        versions_of(key)
    print(f"{1000 * (time.perf_counter() - began) / 200:.2f} ms to read all versions of an article")
    client = Client()
    client.force_login(User.objects.get(username="person0"))
    for name, path in (
        ("an edited article", f"/read/{keys[0]}/"), ("its versions", f"/read/{keys[0]}/versions/"),
        ("edits", "/edits/"), ("by source", "/edits/?sources=1"),
    ):  # fmt: skip
        times = []
        for _ in range(24):
            began = time.perf_counter()
            if client.get(path).status_code != 200:
                raise SystemExit(f"{path} does not answer")
            times.append(1000 * (time.perf_counter() - began))
        times.sort()
        print(f"{name:20} p50 {times[12]:6.1f} ms  p95 {times[22]:6.1f} ms")


def _text(dice: random.Random) -> str:
    words = ("river", "boats", "people", "landing", "lamps", "pier", "council", "winter", "ferry", "storm")
    return "\n".join(
        f"In {dice.randrange(1900, 2026)} the {dice.choice(words)} and the {dice.choice(words)} of the town "
        f"were counted, and {dice.randrange(2, 99)} of them were found near the {dice.choice(words)}."
        for _ in range(18)
    )


def _edited(text: str, dice: random.Random, number: int) -> str:
    lines = text.split("\n")
    place = dice.randrange(len(lines))
    if number % 3 == 0:
        lines[place] = lines[place].replace("were counted", "were not counted")
    elif number % 3 == 1:
        lines[place] = lines[place].replace(" found near", f" lost in {dice.randrange(1900, 2026)} near")
    else:
        lines.insert(place, f"Nobody has asked {dice.randrange(999)} of them what they think of it all.")
    return "\n".join(lines)


def _size() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_total_relation_size('edits_articleversion')")
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    main()
