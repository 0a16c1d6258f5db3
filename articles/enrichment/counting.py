"""Document frequencies: in how many articles of a language each term was, each article counted once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db import connection

from articles.enrichment.models import TermCount

Counts = Mapping[str, Mapping[str, int]]
"""By language: documents by term; the empty term has their number."""


def count(articles: Iterable[tuple[str, Sequence[str], bool]]) -> Counts:
    """Add these articles (language, terms, whether it is new) to the counts; the counts of all their terms.

    Inside the caller's transaction, which marks the new articles as counted.
    """
    added: Counter[tuple[str, str]] = Counter()
    for language, terms, new in articles:
        for term in ("", *set(terms)):
            added[language, term] += int(new)
    # In one order everywhere, so that the row locks of two such statements cannot cross.
    rows = sorted(added.items())
    table = TermCount._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO {table} AS kept (language, term, documents)
            SELECT * FROM unnest(%s::text[], %s::text[], %s::int[])
            ON CONFLICT (language, term) DO UPDATE SET documents = kept.documents + EXCLUDED.documents
            RETURNING language, term, documents
            """,  # noqa: S608 - the table's own name
            [[key[0] for key, _ in rows], [key[1] for key, _ in rows], [number for _, number in rows]],
        )
        found: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for language, term, documents in cursor.fetchall():
            found[language][term] = documents
    return found
