"""Document frequencies: the number of articles of a language with each term, each article counted once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db import connection

from articles.enrichment.models import TermCount

Counts = Mapping[str, Mapping[str, int]]
"""By language: documents by term; the empty term has their number."""


def count(articles: Iterable[tuple[str, Sequence[str], bool]]) -> Counts:
    """Add articles (language, terms, whether new) to the counts. Returns the counts of all their terms.

    Only new articles are added. Runs inside the caller's transaction, which marks them as counted.
    """
    added: Counter[tuple[str, str]] = Counter()
    for language, terms, new in articles:
        for term in ("", *set(terms)):
            # Zero for articles that are counted already: the row is only returned.
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
        counts: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for language, term, documents in cursor.fetchall():
            counts[language][term] = documents
    return counts
