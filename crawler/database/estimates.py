"""Numbers of rows by PostgreSQL's statistics."""

from __future__ import annotations

import json
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet


def estimate(rows: QuerySet[Any]) -> float:
    """Return how many rows PostgreSQL expects of a query, which is not run."""
    try:
        (plan,) = json.loads(rows.order_by().explain(format="json"))
    except EmptyResultSet:
        return 0.0
    return float(plan["Plan"]["Plan Rows"])
