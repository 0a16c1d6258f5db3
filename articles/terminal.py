"""Download of an article's page: robots.txt, GET, main text; and of a page that a person saves."""

from __future__ import annotations

import re
import time
import zlib

from msgspec.structs import replace

from articles.messages import StoredPage
from crawler.failures import Failure, FetchError
from crawler.fetching.browser.look import missing
from crawler.fetching.http.client import ACCEPT_PAGE, Client, Response
from crawler.fetching.http.robots import check_allowed, product_of
from crawler.fetching.http.site_lines import Robots
from crawler.messages import Assignment, Harvest
from crawler.reading.documents import PageDocument
from crawler.reading.errors import ReadingError
from crawler.reading.inflate import inflated
from crawler.reading.pages import extract_page
from crawler.reading.pages.language import language_of
from crawler.reading.pages.structure import paragraphs
from crawler.reading.pages.tree import text_of, whole_tree
from crawler.reading.robots_directives import directives_of
from crawler.reading.watched import pdf_text
from crawler.terminals import readers
from crawler.terminals.answers import answered, refused
from crawler.terminals.browsing import browsed
from crawler.terminals.handlers import serves
from crawler.text.characters import storable

MAX_UNPACKED_BYTES = 100_000_000
"""Bytes of a stored page."""
ACCEPT_SAVED = f"{ACCEPT_PAGE}, application/pdf;q=0.8"
HARDLY_ANY_TEXT = 250
"""Characters of a page below which a browser looks at it, too: it may be empty without JavaScript."""
MAX_PDF_TITLE = 200
NOT_MODIFIED = 304


@serves("page", asks_robots=True)
def retrieve_page(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Retrieve a page. Returns its harvest, which names any failure instead of raising it."""
    at = time.time()
    try:
        check_allowed(rules, assignment.url, client.config.user_agent)
        response = client.get(assignment.url, accept=ACCEPT_PAGE, spacing=spacing)
    except FetchError as error:
        return refused(assignment, at, error)
    try:
        page = readers.read(read_article, response, product_of(client.config.user_agent))
    except ReadingError as error:
        return answered(assignment, at, response, failure=error.kind.value, detail=error.detail)
    if page is None:
        detail = "the page asks robots not to show its content (noindex)"
        return answered(assignment, at, response, failure=Failure.ROBOTS.value, detail=detail)
    page = replace(page, content_type=storable(response.content_type, 200))
    return answered(assignment, at, response, payload=page)


@serves("recheck", asks_robots=True)
def look_at_page_again(
    client: Client, assignment: Assignment, rules: Robots | None, spacing: float
) -> Harvest:
    """Retrieve a page again, if it has changed. Returns its harvest, which names any failure."""
    at = time.time()
    try:
        check_allowed(rules, assignment.url, client.config.user_agent)
        response = client.get(
            assignment.url, accept=ACCEPT_PAGE, etag=assignment.etag, last_modified=assignment.last_modified,
            spacing=spacing,
        )  # fmt: skip
    except FetchError as error:
        return refused(assignment, at, error)
    if response.status == NOT_MODIFIED:
        return answered(assignment, at, response, unchanged=True)
    try:
        page = readers.read(read_article, response, product_of(client.config.user_agent))
    except ReadingError as error:
        return answered(assignment, at, response, failure=error.kind.value, detail=error.detail)
    if page is None:
        return answered(assignment, at, response, failure=Failure.ROBOTS.value, detail="noindex")
    page = replace(page, content_type=storable(response.content_type, 200))
    return answered(assignment, at, response, payload=page)


@serves("saved-page")
def retrieve_saved_page(
    client: Client, assignment: Assignment, rules: Robots | None, spacing: float
) -> Harvest:
    """Retrieve a page that a person saved. Returns its harvest, which names any failure.

    robots.txt and noindex are not asked, as no browser asks them: they are about programs that collect, and a
    person keeps this one page. Wallabag and Karakeep do so, too.
    """
    at = time.time()
    try:
        response = client.get(assignment.url, accept=ACCEPT_SAVED, spacing=spacing)
    except FetchError as error:
        return refused(assignment, at, error)
    try:
        page = readers.read(read_saved, response)
    except ReadingError as error:
        return answered(assignment, at, response, failure=error.kind.value, detail=error.detail)
    if len(page.text) < HARDLY_ANY_TEXT and not missing():
        page = _fuller_by_browser(client, assignment, page, spacing)
    page = replace(page, content_type=page.content_type or storable(response.content_type, 200))
    return answered(assignment, at, response, payload=page)


def read_saved(response: Response) -> PageDocument:
    """Parse a page, or a PDF, of which the text is taken. Raises ReadingError."""
    if not response.body[:1024].lstrip().startswith(b"%PDF-"):
        return extract_page(response.body, url=response.url, content_type=response.content_type)
    lines = [line.strip() for line in pdf_text(response.body).splitlines()]
    text = "\n".join(line for line in lines if line)
    title = text.partition("\n")[0][:MAX_PDF_TITLE]
    return PageDocument(
        html=zlib.compress(response.body, 1),
        content_type="application/pdf",
        title=title,
        text=text,
        content=paragraphs(text),
        language=language_of(text),
    )


def _fuller_by_browser(
    client: Client, assignment: Assignment, page: PageDocument, spacing: float
) -> PageDocument:
    """Return the page as a browser shows it if that has more text, else the page as it was read."""
    try:
        response, _ = browsed(client, assignment.url, (), spacing)
        browser_page = readers.read(read_saved, response)
    except (FetchError, ReadingError):
        return page
    return browser_page if len(browser_page.text) > len(page.text) else page


def read_article(response: Response, product: str) -> PageDocument | None:
    """Parse the page of a response. Returns None when it asks robots not to show it. Raises ReadingError."""
    page = extract_page(response.body, url=response.url, content_type=response.content_type)
    return page if _may_be_shown(response, product) else None


def _may_be_shown(response: Response, product: str) -> bool:
    """Return whether the page permits its content to be shown to readers and in their feeds."""
    text = text_of(response.body, response.content_type)
    speaks = re.search(rf"<meta\b[^<>]{{0,1000}}(?:robots|{re.escape(product)})", text, re.IGNORECASE)
    return directives_of(whole_tree(text) if speaks else None, response.headers, product).index


def read_again(stored: StoredPage) -> Harvest:
    """Parse a stored page with the current version. Fetches nothing."""
    at = time.time()
    try:
        body = inflated(stored.html, MAX_UNPACKED_BYTES)
        page = readers.read(extract_page, body, url=stored.url, content_type=stored.content_type)
    except (ReadingError, ValueError) as error:
        return Harvest("page", stored.id, at, stored.url, failure="malformed", detail=str(error)[:1000])
    return Harvest("page", stored.id, at, stored.url, payload=replace(page, html=b""))
