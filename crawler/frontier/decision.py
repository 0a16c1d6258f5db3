"""The update rule of crawled URLs: what an answer changes in a URL's row, when, and why. Pure.

`decide` takes what matters of the old row, and the answer, whose time is the decision's.
`crawler.frontier.check_in` reads rows, scores links and writes.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from crawler.failures import Failure, Retry, retry_of
from crawler.frontier.budgets import MAX_REDIRECTS
from crawler.messages import Harvest
from crawler.reading.documents import CrawledPage

MAX_ATTEMPTS = 5
"""Attempts per URL: at most six requests, because one may be sent again on a new connection."""
RETRY_SECONDS = 5.0
MAX_RETRY_SECONDS = 600.0

State = Literal["queued", "crawled", "moved", "failed"]
"""The states of `crawler.frontier.models.CrawlUrl` that an answer leads to."""


@dataclass(frozen=True, slots=True)
class UrlDecision:
    """The state that an answer leads to, the columns that it changes, and the reason: a failure's code or "".

    The links of a `page` are followed, and its body is stored if it `is_kept`.
    """

    state: State
    reason: str
    changes: Mapping[str, Any]
    page: CrawledPage
    is_kept: bool = False

    @property
    def is_followed(self) -> bool:
        """True when the page's links, or the target of a redirect, are to be followed."""
        return self.state in {"crawled", "moved"}


def decide(attempts: int, hops: int, harvest: Harvest, *, keep_bodies: bool) -> UrlDecision:
    """Return what an answer changes in the row of a URL, which has been tried `attempts` times.

    `hops` redirects in a row led to the URL.
    """
    page = harvest.brought(CrawledPage) or CrawledPage()
    is_kept = bool(page.digest and page.body and keep_bodies)
    reason, detail = harvest.failure, harvest.detail[:1000]
    retry: dict[str, datetime] = {}
    state: State
    if harvest.failure:
        state = "failed"
        # Attempts were counted when the URL was leased, so that one that kills its terminal is counted, too.
        if is_retryable(harvest) and attempts < MAX_ATTEMPTS:
            state = "queued"
            retry = dict.fromkeys(("queued", "not_before"), retry_at(harvest, attempts))
    elif harvest.status in {200, 226}:
        state = "crawled"
    elif hops < MAX_REDIRECTS:
        state = "moved"
    else:
        state, reason = "failed", Failure.REDIRECT.value
        detail = f"more than {MAX_REDIRECTS} redirects in a row"
    changes = {
        "lease": None,
        "losses": 0,
        "state": state,
        "fetched": datetime.fromtimestamp(harvest.at, UTC),
        "status": harvest.status,
        "elapsed": harvest.elapsed,
        "failure": reason,
        "detail": detail,
        "size": page.size,
        "content_type": page.content_type,
        "title": page.title,
        "headers": [list(header) for header in page.headers],
        "body_id": uuid.UUID(page.digest) if is_kept else None,
    }
    return UrlDecision(state, reason, changes | retry, page, is_kept)


def is_retryable(harvest: Harvest) -> bool:
    """Return whether another attempt may succeed."""
    return retry_of(harvest.failure, harvest.status) in {Retry.SOON, Retry.THROTTLED}


def retry_at(harvest: Harvest, attempts: int) -> datetime:
    """Return the time of the next attempt, after `attempts` of them.

    Waits 5 s, then four times as long after each attempt, or as long as the server asks for if that is
    longer; at most MAX_RETRY_SECONDS.
    """
    # Four times: 5, 20, 80, 320 s, which outlasts a restart of a server within MAX_ATTEMPTS.
    wait = max(harvest.retry_after or 0.0, RETRY_SECONDS * 4.0 ** (attempts - 1))
    ended = harvest.at + harvest.elapsed  # a slow attempt can take longer than the wait
    return datetime.fromtimestamp(ended, UTC) + timedelta(seconds=min(wait, MAX_RETRY_SECONDS))
