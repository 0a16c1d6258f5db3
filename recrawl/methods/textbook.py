"""`cho-garcia-molina`: the textbook's freshness-optimal visits, by each page's own rate of change. Pure.

A page that changes l times a week and was fetched t weeks ago is worth (1 - exp(-l t)(1 + l t)) / l: fetching
the pages of the highest worth gives the frequencies that keep most copies fresh. A rate is that of the page's
checks, shrunk to the rate of its site.

Source: J. Cho and H. Garcia-Molina, "Effective page refresh policies for web crawlers", ACM TODS 28(4), 2003;
the index by Azar and others, "Tractable near-optimal policies for crawling", PNAS 115(32), 2018.
"""

from __future__ import annotations

import math

from recrawl.methods.base import Method, unfetched
from recrawl.visiting.known_server import KnownServer, OpenVisit

SITE_WEIGHT = 4.0
"""Weight of the site's rate for a page, in checks."""
FIRST_CHANGES, FIRST_CHECKS = 0.5, 5.0
"""Changes and checks of a site before anything is known."""


class Textbook(Method):
    """Freshness-optimal visits."""

    name = "cho-garcia-molina"

    def following(self, server: KnownServer, visit: OpenVisit) -> list[str]:
        pages = server.pages
        checks = FIRST_CHECKS + sum(page.checks for page in pages.values())
        changes = FIRST_CHANGES + sum(page.changes for page in pages.values())
        share = changes / checks

        def worth(path: str) -> float:
            page = pages[path]
            shrunk = (SITE_WEIGHT * share + page.changes) / (SITE_WEIGHT + page.checks)
            rate = -math.log(1 - min(shrunk, 0.95))
            doubt = rate * (visit.now - page.fetched)
            return (1 - math.exp(-doubt) * (1 + doubt)) / rate

        return sorted(unfetched(pages, server, visit), key=lambda path: (-worth(path), path))
