"""The person for whom rows are read, so that what belongs to one person is shown to no other.

Newsletters and sources behind a login have an owner. Dozens of pages, lists and answers read feeds and
articles; the managers of both leave out what is another's wherever a request is answered, instead of each of
them. Commands and tasks read for nobody in particular, and see everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from django.core.signals import request_finished
from django.db.models import BooleanField, F, Func, Model, QuerySet
from django.db.models.sql.compiler import SQLCompiler

_reader: ContextVar[Callable[[], int | None] | None] = ContextVar("reader", default=None)

M = TypeVar("M", bound=Model)


def read_for(person: Callable[[], int | None] | None) -> None:
    """Read for a person until the request ends: a function of the primary key, which may be known later."""
    _reader.set(person)


def read_as(person: int | None) -> None:
    """Read for the person with this primary key until the request ends; None is nobody."""
    read_for(lambda: person)


@contextmanager
def reading_as(person: int | None) -> Iterator[None]:
    """Read for one person within a task that works for many, such as one that tells each of what is new."""
    token = _reader.set(lambda: person)
    try:
        yield
    finally:
        _reader.reset(token)


def visible(rows: QuerySet[M], owner: str = "owner_id") -> QuerySet[M]:
    """Return rows without those of other people; `owner` is the path to the column with their owner."""
    return rows.filter(_IsVisible(owner))


class _IsVisible(Func):
    """A condition that is written when a query runs, for views keep queries that were made before."""

    output_field = BooleanField()

    def __init__(self, owner: str) -> None:
        super().__init__(F(owner))

    def as_sql(  # type: ignore[override]  # a Func takes more, which a condition has no use for
        self, compiler: SQLCompiler, connection: Any, **_: Any
    ) -> tuple[str, list[Any]]:
        """Return the condition for the person who reads now; nothing is hidden where nobody does."""
        person = _reader.get()
        if person is None:
            return "TRUE", []
        column, parameters = compiler.compile(self.get_source_expressions()[0])
        if (key := person()) is None:
            return f"{column} IS NULL", [*parameters]
        return f"({column} IS NULL OR {column} = %s)", [*parameters, *parameters, key]


def _forget(**_: object) -> None:
    _reader.set(None)


# A thread serves many people: who was read for must not last into the next request.
request_finished.connect(_forget, dispatch_uid="readers")
