"""Harvests from what the client answered."""

from __future__ import annotations

from typing import Any

from crawler.http.client import Response
from crawler.http.failures import FetchError
from crawler.messages import Assignment, Harvest
from crawler.text.characters import storable

MOST_DETAIL = 1000


def answered(assignment: Assignment, at: float, response: Response, **found: Any) -> Harvest:
    """A harvest of a response, with what was found in it."""
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
        **found | ({"detail": storable(found["detail"], MOST_DETAIL)} if "detail" in found else {}),
    )


def refused(assignment: Assignment, at: float, error: FetchError) -> Harvest:
    """A harvest of a failure."""
    return Harvest(
        kind=assignment.kind,
        id=assignment.id,
        at=at,
        url=assignment.url,
        final_url=error.url,
        status=error.status,
        failure=error.label,
        detail=storable(error.detail, MOST_DETAIL),
        elapsed=error.elapsed,
        bytes=error.bytes,
        retry_after=error.retry_after,
    )
