"""Feeds to begin with, by language and topic, from `beginnings.toml`. Pure."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).with_name("beginnings.toml")
TOPICS = ("news", "technology", "science", "culture")
FALLBACK = "en"


@dataclass(frozen=True, slots=True)
class Beginning:
    """A feed that is offered to somebody who follows none."""

    language: str
    topic: str
    title: str
    url: str


def _read() -> tuple[Beginning, ...]:
    with TABLE.open("rb") as file:
        return tuple(Beginning(**row) for row in tomllib.load(file)["feed"])


BEGINNINGS = _read()
LANGUAGES = tuple(dict.fromkeys(each.language for each in BEGINNINGS))


def beginnings_in(language: str) -> list[tuple[str, list[Beginning]]]:
    """Return the feeds of a language by topic; those of English for one that has none."""
    spoken = language.partition("-")[0].lower()
    chosen = spoken if spoken in LANGUAGES else FALLBACK
    return [
        (topic, [each for each in BEGINNINGS if (each.language, each.topic) == (chosen, topic)])
        for topic in TOPICS
    ]
