"""Numbers of rows by PostgreSQL's statistics."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import QuerySet


def estimate(rows: QuerySet[Any]) -> float:
    """Return how many rows PostgreSQL expects of a query, which is not run."""
    text = rows.order_by().explain(format="json")
    if not text:  # of a query that can find nothing
        return 0.0
    (plan,) = json.loads(text)
    return float(plan["Plan"]["Plan Rows"])
