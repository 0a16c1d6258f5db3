"""Pages opened in a browser by a terminal, answered as if a server had sent what the browser shows."""

from __future__ import annotations

import time

from crawler.failures import FetchError, of_response
from crawler.fetching.browser.look import BrowserLook, LookJob, look
from crawler.fetching.browser.steps import Step
from crawler.fetching.http.client import Client, Response


def browsed(
    client: Client, url: str, steps: tuple[Step, ...], spacing: float
) -> tuple[Response, BrowserLook]:
    """Open a page, perform the steps, and return it as a response and as it was seen. Raises FetchError."""
    at = time.time()
    # The browser's requests pass by the client, so that the host's turn is held for all of them.
    with client.turn(url, spacing):
        rendering = look(LookJob(url, steps, seconds=client.config.deadline))
    if rendering.status >= 400:
        kind = of_response(rendering.status, retry_after=False, challenged=False)
        error = FetchError(kind, f"the server answers {rendering.status}", status=rendering.status)
        error.url, error.bytes = rendering.url, rendering.bytes
        raise error
    response = Response(
        rendering.status or 200,
        rendering.url,
        {},
        rendering.html.encode("utf-8", "replace"),
        wire_bytes=rendering.bytes,
        elapsed=time.time() - at,
        content_type="text/html; charset=utf-8",
        status_line=f"HTTP/1.1 {rendering.status or 200}",
    )
    return response, rendering
