"""A subscription request to a WebSub hub (W3C WebSub, section 5.1)."""

from __future__ import annotations

import time

from crawler.failures import FetchError
from crawler.fetching.http.client import Client
from crawler.fetching.http.site_lines import Robots
from crawler.messages import Assignment, Harvest
from crawler.terminals.answers import answered, refused
from crawler.terminals.handlers import serves
from feeds.orders import HubOrder


@serves("hub")
def ask_hub(client: Client, assignment: Assignment, rules: Robots | None, spacing: float) -> Harvest:
    """Post the form to the hub. Returns a harvest, which names any failure instead of raising it."""
    at = time.time()
    try:
        response = client.post(assignment.url, assignment.ordered(HubOrder).form, spacing=spacing)
    except FetchError as error:
        return refused(assignment, at, error)
    return answered(assignment, at, response)
