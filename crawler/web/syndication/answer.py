"""HTTP responses of syndication documents: validators, 304, the encoding the reader accepts; private."""

from __future__ import annotations

import gzip
import hashlib
from datetime import datetime

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import http_date


def digest_of(body: bytes) -> str:
    """Return the digest of a body for its validator."""
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def answer(request: HttpRequest, body: bytes, content_type: str, changed: datetime) -> HttpResponseBase:
    """Return the document, or 304. Each encoding has its own strong validator (RFC 9110, section 8.8.3.3)."""
    response, conditional = _conditional(request, digest_of(body), changed)
    if conditional is response:
        response.headers["Content-Type"] = content_type
        zipped = takes_gzip(request)
        # Without a time in it, so that the same document always has the same bytes.
        response.content = gzip.compress(body, compresslevel=6, mtime=0) if zipped else body
        if zipped:
            response.headers["Content-Encoding"] = "gzip"
    return private(conditional)


def not_modified(request: HttpRequest, digest: str, changed: datetime) -> HttpResponseBase | None:
    """Return 304 (or 412) when the reader has the document of this digest, else None."""
    response, conditional = _conditional(request, digest, changed)
    return None if conditional is response else private(conditional)


def _conditional(
    request: HttpRequest, digest: str, changed: datetime
) -> tuple[HttpResponse, HttpResponseBase]:
    """Return a response with validators, and the response that the request's conditions make of it."""
    response = HttpResponse()
    response.headers["ETag"] = etag = f'"{digest}-gzip"' if takes_gzip(request) else f'"{digest}"'
    response.headers["Last-Modified"] = http_date(changed.timestamp())
    response.headers["Vary"] = "Accept-Encoding"
    conditional = get_conditional_response(request, etag, int(changed.timestamp()), response)
    return response, conditional or response


def private(response: HttpResponseBase) -> HttpResponseBase:
    """Forbid caches, search engines and referrers for this response."""
    response.headers["Cache-Control"] = "private, max-age=60"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def takes_gzip(request: HttpRequest) -> bool:
    """Return whether Accept-Encoding allows gzip (RFC 9110, section 12.5.3)."""
    weights: dict[str, float] = {}
    for part in request.headers.get("Accept-Encoding", "").split(","):
        name, _, parameter = part.partition(";")
        try:
            weight = float(parameter.partition("=")[2]) if parameter.strip() else 1.0
        except ValueError:
            weight = 0.0
        weights[name.strip().lower()] = weight
    return weights.get("gzip", weights.get("*", 0.0)) > 0
