"""Graphs that are computed from others: each replaced as a whole, and followed by replicas like any graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import connection, transaction

from crawler.pipeline.models import GraphChange
from crawler.pipeline.prefixes import PREFIXES, expanded, moment
from crawler.pipeline.store import META, Keys, Triple, replace_graphs, replace_subjects
from crawler.pipeline.terms import Term, iri

SPACE = PREFIXES["freshet"]
"""The beginning of the names of derived graphs, which no document can have."""
_LOCK = 0x64657276
"""The advisory lock under which derived graphs are written."""

Terms = Sequence[tuple[Term, Term, Term]]


def save_derived(graphs: Mapping[str, Terms], now: datetime) -> int:
    """Replace graphs by their names, all in one transaction. Returns how many changed.

    New terms are stored before, so that nobody who has the same waits for the graphs.

    The graph of origins tells when each was computed. Raises ValueError for a name outside SPACE.
    """
    if outside := [name for name in graphs if not name.startswith(SPACE)]:
        raise ValueError(f"derived graphs are named {SPACE}...: {outside[0]}")
    generated = expanded("prov:generatedAtTime")
    origins = {name: [(iri(name), generated, moment(now))] for name in graphs}
    keys = Keys()
    keys.add([META])
    for name, triples in graphs.items():
        keys.add(term for triple in (*triples, *origins[name]) for term in triple)
    keys.save()

    def keyed(triples: Terms) -> set[Triple]:
        return {(keys[s], keys[p], keys[o]) for s, p, o in triples}

    new = {keys[iri(name)]: keyed(triples) for name, triples in graphs.items()}
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        replaced = replace_graphs(new, set(new))
        replace_subjects(keys[META], {keys[iri(name)]: keyed(origins[name]) for name in graphs})
        GraphChange.objects.bulk_create(
            GraphChange(
                context=keys[iri(name)],
                url=name,
                version=0,
                added=replaced[keys[iri(name)]].added,
                removed=replaced[keys[iri(name)]].removed,
            )
            for name in graphs
        )
    return sum(bool(change.added or change.removed) for change in replaced.values())


def last_derived(name: str) -> datetime | None:
    """Return when a derived graph was last computed, None if it never was."""
    rows = GraphChange.objects.filter(context=iri(name).key())
    return rows.order_by("-id").values_list("at", flat=True).first()
