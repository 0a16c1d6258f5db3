"""Retrieval and matching of robots.txt by RFC 9309. protego matches; callers cache the file for a day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from protego import Protego

from crawler.failures import Failure, FetchError
from crawler.fetching.http.client import Client
from crawler.fetching.http.site_lines import MAX_LINE, Robots, is_site_line, sitemaps_in

MAX_BYTES = 500 * 1024
"""RFC 9309 section 2.5: read at least this much; the rest is ignored."""

MAX_CRAWL_DELAY = 60.0
"""Seconds. Longer ones are wishes nobody can keep, such as 1e9."""

# RFC 9309, section 2.3.1.3: any 4xx means that there are no rules. 429 is not among them: it is a wish to
# wait.
_UNAVAILABLE = frozenset({Failure.HTTP_4XX, Failure.GONE, Failure.HTTP_OTHER, Failure.REDIRECT})
_AGENT_LINE = re.compile(r"user[- ]?agent\s*[:\s]\s*(.*)", re.IGNORECASE)
_RULE = re.compile(
    r"(?:allow|di[sa]\w*l\w*w|crawl[- ]delay|request[- ]rate|visit[- ]time)(?:\s*:|\s)", re.IGNORECASE
)
"""Lines that say something of a group, with the misspellings that protego knows. No other line ends a group's
names (RFC 9309, section 2.2.4; a test of google/robotstxt has one between two names)."""
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that no rule means and no database takes; not those that end lines."""


def read_robots(client: Client, origin: str, now: float, spacing: float | None = None) -> Robots:
    """Fetch the robots.txt of an origin such as `https://example.org` at `now` (epoch seconds).

    Status 404 stands for "there is none", and everything is allowed: any 4xx, and redirects that do not end
    after five. Status 500 stands for "unreadable", and nothing is allowed: 5xx, throttling, network failures.
    The text keeps only the rules for this crawler's product name and for all, and the sitemaps with their
    absolute addresses. It has no control characters. Raises FetchError (busy) if nothing was asked.
    """
    try:
        response = client.get(
            f"{origin}/robots.txt",
            accept="text/plain, */*;q=0.1",
            max_bytes=MAX_BYTES,
            cut=True,
            spacing=spacing,
        )
    except FetchError as error:
        # A host that had no turn said nothing; 500 would close it for `ROBOTS_PAUSE`.
        if error.kind is Failure.BUSY:
            raise
        return Robots(404 if error.kind in _UNAVAILABLE else 500, "", now, origin)
    return kept(response.body, client.config.user_agent, origin, now)


def kept(body: bytes, user_agent: str, origin: str, now: float) -> Robots:
    """Return what is kept of a site's robots.txt: the rules for it and for all, and the sitemaps."""
    # RFC 9309 section 2.3.1: always UTF-8, whatever a mark or header says
    text = _CONTROL.sub("", body.decode("utf-8-sig", "replace"))
    lines = list(_relevant(text, product_of(user_agent)))
    lines += [f"Sitemap: {url}" for url in sitemaps_in(text, origin)]
    return Robots(200, "\n".join(lines), now, origin)


def allowed(robots: Robots, url: str, user_agent: str) -> bool:
    """Return whether the rules allow the URL (canonical) to the product named first in `user_agent`."""
    if robots.status == 200:
        return bool(_rules(robots.text).can_fetch(url, product_of(user_agent)))
    return robots.status == 404


def check_allowed(rules: Robots | None, url: str, user_agent: str) -> None:
    """Raise FetchError(robots) where the site's robots.txt forbids this retrieval."""
    if rules is None:
        return
    if rules.status >= 500:
        detail = "robots.txt cannot be read now; until it can, nothing of this host is fetched (RFC 9309)"
        raise FetchError(Failure.ROBOTS, detail, status=503)
    if not allowed(rules, url, user_agent):
        raise FetchError(Failure.ROBOTS, "robots.txt does not allow this page")


def crawl_delay(robots: Robots, user_agent: str) -> float:
    """Return the seconds between requests that the site asks for, a minute at most, 0 if it names none."""
    if robots.status != 200:
        return 0.0
    return min(_rules(robots.text).crawl_delay(product_of(user_agent)) or 0.0, MAX_CRAWL_DELAY)


def product_of(user_agent: str) -> str:
    """Return the product token by which sites name a robot: `Freshet` of `Freshet/1.0 (+https://...)`."""
    return user_agent.partition("/")[0].strip()


def _relevant(text: str, product: str) -> Iterator[str]:
    """Yield the lines of the groups that name the product or `*`.

    Half a megabyte of other robots' groups would take protego quadratic time, and travels with
    every batch.
    """
    applies, among_agents = False, False
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        # A blank line ends no group (wpull 273), nor does a sitemap (google/robotstxt).
        if not line or len(line) > MAX_LINE or is_site_line(line):
            continue
        agent = _AGENT_LINE.match(line)
        if agent is None:
            if _RULE.match(line):
                among_agents = False
                if applies:
                    yield line
            continue
        # Names in a row share one group (movar 434); a rule between them begins a new one.
        applies = applies and among_agents
        among_agents = True
        name = agent[1].strip().lower()
        # Both the group for this crawler and that for all are kept, and protego chooses (httrack 1695, 1702).
        if name == "*" or product.lower() in _products(name):
            applies = True
            yield f"User-agent: {'*' if name == '*' else product}"


def _products(names: str) -> Iterator[str]:
    """Yield the products that a line of names means: each up to its version, and up to its first blank.

    Behind the name some sites write words or further names (tests of google/robotstxt and crawler-commons).
    """
    for name in names.split(","):
        product = name.partition("/")[0].strip("* ")
        yield product
        yield product.partition(" ")[0]


# A crawl asks the same rules for each link of a page.
@lru_cache(maxsize=64)
def _rules(text: str) -> Protego:
    return Protego.parse(text)
