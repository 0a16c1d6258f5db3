"""One download of an article's page: robots.txt, GET, main text."""

from __future__ import annotations

import time
import zlib
from dataclasses import replace

from articles.extraction import ExtractionError, extract_page
from crawler.http import robots
from crawler.http.client import ACCEPT_PAGE, Client
from crawler.http.failures import Failure, FetchError
from crawler.messages import Assignment, Harvest, Robots, StoredPage
from crawler.terminals.answers import answered, refused
from crawler.terminals.turn import analysing


def ask_robots(client: Client, assignment: Assignment, rules: Robots) -> None:
    """Raise FetchError(robots) where the site's robots.txt does not let us retrieve this."""
    if rules.status >= 500:
        detail = "robots.txt cannot be read now; until it can, nothing of this host is fetched (RFC 9309)"
        raise FetchError(Failure.ROBOTS, detail, status=503)
    if not robots.allowed(rules, assignment.url, client.config.user_agent):
        raise FetchError(Failure.ROBOTS, "robots.txt does not allow this page")


def retrieve_page(client: Client, assignment: Assignment, rules: Robots, spacing: float) -> Harvest:
    """The harvest of a page; every failure is named in it, nothing is raised."""
    at = time.time()
    try:
        ask_robots(client, assignment, rules)
        response = client.get(assignment.url, accept=ACCEPT_PAGE, spacing=spacing)
    except FetchError as error:
        return refused(assignment, at, error)
    try:
        with analysing:
            page = extract_page(response.body, url=response.url, content_type=response.content_type)
    except ExtractionError as error:
        failure = Failure(error.kind).value
        return answered(assignment, at, response, failure=failure, detail=error.detail)
    page = replace(page, content_type=response.content_type[:200])
    return answered(assignment, at, response, page=page)


def read_again(stored: StoredPage) -> Harvest:
    """What a stored page says by today's reading; nothing is fetched."""
    at = time.time()
    try:
        with analysing:
            body = zlib.decompress(stored.html)
            page = extract_page(body, url=stored.url, content_type=stored.content_type)
    except (ExtractionError, zlib.error) as error:
        return Harvest("page", stored.id, at, stored.url, failure="unreadable", detail=str(error)[:1000])
    return Harvest("page", stored.id, at, stored.url, page=replace(page, html=b""))
