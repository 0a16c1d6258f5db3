"""Harvests built from responses and errors of the HTTP client."""

from __future__ import annotations

from typing import Any

from crawler.failures import FetchError
from crawler.fetching.http.client import Response
from crawler.messages import Assignment, Harvest
from crawler.text.characters import storable

MAX_DETAIL = 1000


def answered(assignment: Assignment, at: float, response: Response, **fields: Any) -> Harvest:
    """Build the harvest of a response, with further `fields` such as its payload."""
    return Harvest(
        kind=assignment.kind,
        id=assignment.id,
        at=at,
        url=assignment.url,
        final_url=response.url,
        moved_to=response.moved_to,
        status=response.status,
        elapsed=response.elapsed,
        bytes=response.wire_bytes,
        conditional=response.conditional,
        etag=response.etag,
        last_modified=response.last_modified,
        retry_after=response.retry_after,
        max_age=response.max_age,
        # Details quote what a server sent, which may hold what no database takes.
        **fields | ({"detail": storable(fields["detail"], MAX_DETAIL)} if "detail" in fields else {}),
    )


def refused(assignment: Assignment, at: float, error: FetchError) -> Harvest:
    """Build the harvest of a failed fetch."""
    return Harvest(
        kind=assignment.kind,
        id=assignment.id,
        at=at,
        url=assignment.url,
        final_url=error.url,
        status=error.status,
        failure=error.label,
        detail=storable(error.detail, MAX_DETAIL),
        elapsed=error.elapsed,
        bytes=error.bytes,
        retry_after=error.retry_after,
    )
