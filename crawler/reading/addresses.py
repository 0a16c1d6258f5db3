"""Links of feeds and pages made absolute by the WHATWG URL standard (ada), http and https only.

Unlike crawler.fetching.http.urls.join this keeps fragments, which readers follow and by which some
feeds tell entries apart.
"""

from __future__ import annotations

import ada_url

from crawler.reading.limits import LIMITS


def absolute(base: str, reference: str) -> str:
    """Return the absolute http(s) URL of a reference, "" when there is none or it is invalid."""
    reference = reference.strip()
    if not reference or len(reference) > LIMITS.address:
        return ""
    try:
        url = str(ada_url.join_url(base, reference) if base else ada_url.normalize_url(reference))
    except ValueError:
        return ""
    return url if url.startswith(("http://", "https://")) and len(url) <= 3 * LIMITS.address else ""


def host(url: str) -> str:
    """Return host and port of an absolute URL, "" when there is none."""
    try:
        return str(ada_url.URL(url).host)
    except ValueError:
        return ""
