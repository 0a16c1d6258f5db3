"""Calls of transformers behind HTTP, from the process that transforms; needs no database."""

from __future__ import annotations

from functools import cache

from django.conf import settings

from crawler.failures import FetchError
from crawler.fetching.http.client import Client, ClientConfig
from crawler.fetching.http.gate import HostGate
from crawler.pipeline.transform.graph import MAX_OUTPUT, SourceDocument
from crawler.pipeline.transform.plugins import ACCEPT, PluginError

DEADLINE_SECONDS = 5.0
_MEDIA = {
    "html": "text/html", "xhtml": "application/xhtml+xml", "rss-1.0": "application/rss+xml",
    "rss-2.0": "application/rss+xml", "rss-0.9x": "application/rss+xml", "atom": "application/atom+xml",
    "json-feed": "application/feed+json", "rdf-xml": "application/rdf+xml", "json-ld": "application/ld+json",
    "json": "application/json", "turtle": "text/turtle", "n-triples": "application/n-triples",
    "n-quads": "application/n-quads", "text": "text/plain",
}  # fmt: skip


def call(address: str, document: SourceDocument) -> tuple[str, bytes]:
    """POST the document, its address in Content-Location. Returns the response. Raises PluginError."""
    kind = document.content_type or _MEDIA.get(document.type, "application/xml")
    headers = {"Content-Type": _header(kind), "Content-Location": _header(document.url)}
    try:
        response = _client().submit(address, document.body, headers=headers, accept=ACCEPT)
    except FetchError as error:
        raise PluginError(str(error)) from error
    return response.content_type, response.body


def _header(value: str) -> str:
    """Convert a text to the form that a header can carry."""
    return "".join(sign for sign in value if " " <= sign <= "~")


@cache
def _client() -> Client:
    """Return this process's client. Operators choose its addresses, so other networks are open to it."""
    config = ClientConfig(
        user_agent=settings.FETCH_USER_AGENT,
        deadline=DEADLINE_SECONDS,
        max_bytes=MAX_OUTPUT,
        allowed_networks=tuple(str(network) for network in settings.PIPELINE_PLUGIN_NETWORKS),
    )
    return Client(config, HostGate(settings.DATA_DIR / "hosts", 0.0))
