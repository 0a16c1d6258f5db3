"""Databases of earlier versions that this one cannot take over, because their migrations are squashed.

A squashed migration counts as applied if all that it replaces are applied. Where only some are, Django
leaves it out without a word, and with it the tables of its app.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error
from django.core.management.base import CommandError
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def missing_migrations(applied: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the migrations (app, name) that an earlier version has still to make here."""
    missing: list[tuple[str, str]] = []
    for migration in MigrationLoader(None).replacements.values():
        absent = [key for key in migration.replaces if key not in applied]
        if len(absent) < len(migration.replaces):
            missing += absent
    return sorted(missing)


def sentence_for(applied: Collection[tuple[str, str]], subject: str) -> str:
    """Return why these are the migrations of a version too old to be taken over, an empty text if not."""
    if not (missing := missing_migrations(applied)):
        return ""
    return (
        f"{subject} is of a version too old for this one: it lacks {missing[0][0]}.{missing[0][1]}. "
        "First start the last version that has this step, then this one."
    )


def refuse_older(applied: Collection[tuple[str, str]], subject: str = "The database") -> None:
    """Raise CommandError if these are the migrations of a version too old to be taken over."""
    if sentence := sentence_for(applied, subject):
        raise CommandError(sentence)


def check_age(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Find databases that are too old: a system check, which `migrate` runs before all else."""
    sentences = (
        sentence_for(MigrationRecorder(connections[name]).applied_migrations(), "The database")
        for name in databases or ()
    )
    return [Error(sentence, id="freshet.E001") for sentence in sentences if sentence]
