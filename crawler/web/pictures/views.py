"""Pictures and icons under /img/, for anybody who has an address that this deployment has signed."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future
from html import escape

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from crawler.web.pictures.addresses import is_signed
from crawler.web.pictures.cache import ICON_SECONDS, TOUCH_SECONDS, Stored
from crawler.web.pictures.loading import load_icon, load_picture, picture_cache

SIZES = {"full": 2.5, "thumbnail": 1.0}
"""Seconds for which the answer is held back until a picture of this size is loaded."""
KEPT_SECONDS = 30 * 86_400
FAILED_SECONDS = 3600
SOON_SECONDS = 30
MAX_ADDRESS = 8000
WEBP, SVG = "image/webp", "image/svg+xml"


@login_not_required
@require_safe
def picture(request: HttpRequest, size: str) -> HttpResponseBase:
    """Answer with a picture of the web, with 503 while it is being loaded, or 404 if it cannot be fetched."""
    url = request.GET.get("u", "")
    if size not in SIZES or len(url) > MAX_ADDRESS or not is_signed("picture", url, request.GET.get("s", "")):
        raise Http404("no picture has this address")
    stored = picture_cache().read(url, size)
    if stored is None:
        _wait(load_picture(url), SIZES[size])
        stored = picture_cache().read(url, size)
    if stored is None:
        later = HttpResponse("The picture is being loaded.", "text/plain", 503, headers={"Retry-After": "2"})
        return _kept(later, 0)
    if stored.failure:
        return _kept(HttpResponse(f"No picture: {stored.failure}", "text/plain", 404), FAILED_SECONDS)
    if stored.age > TOUCH_SECONDS:
        picture_cache().used(url, size)
    return _answer(request, stored.body, WEBP, KEPT_SECONDS)


def icon_answer(
    request: HttpRequest, key: str, candidates: list[str], site: str, name: str
) -> HttpResponseBase:
    """Answer with a site's icon, or at once with its first letter if there is none or none yet.

    An icon older than a month is answered and loaded again.
    """
    stored: Stored | None = picture_cache().read(key, "icon")
    if stored is None or stored.age > ICON_SECONDS:
        load_icon(key, candidates, site)
    if stored is None or stored.failure:
        seconds = SOON_SECONDS if stored is None else FAILED_SECONDS
        return _answer(request, letter(name), SVG, seconds)
    return _answer(request, stored.body, WEBP, KEPT_SECONDS // 4)


def letter(name: str) -> bytes:
    """Return a picture of the first letter of a name, on a colour that follows from the name."""
    sign = next((sign for sign in name if sign.isalnum()), "·").upper()
    hue = hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=2).digest()[0] * 360 // 256
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" '
        f'fill="hsl({hue} 45% 38%)"/><text x="8" y="11.6" font-family="sans-serif" font-size="10" '
        f'font-weight="700" text-anchor="middle" fill="#fff">{escape(sign)}</text></svg>'
    ).encode()


def _wait(future: Future[str] | None, seconds: float) -> None:
    if future is not None:
        try:
            future.result(seconds)
        except TimeoutError:
            return


def _answer(request: HttpRequest, body: bytes, kind: str, seconds: int) -> HttpResponseBase:
    """Answer with a body that is kept, or with 304 to those who have it."""
    etag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    if request.headers.get("If-None-Match", "").removeprefix("W/") == etag:
        return _kept(HttpResponse(status=304, headers={"ETag": etag}), seconds)
    response = HttpResponse(body, kind, headers={"ETag": etag, "Content-Disposition": "inline"})
    response.headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    return _kept(response, seconds)


def _kept(response: HttpResponse, seconds: int) -> HttpResponse:
    if seconds:
        patch_cache_control(response, private=True, max_age=seconds)
    else:
        patch_cache_control(response, no_store=True)
    return response
