"""Serves personal feeds at their secret addresses, with validators, in the encoding the reader takes."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date
from django.views.decorators.http import require_safe

from articles.models import PersonalFeedToken
from articles.outputs import atom, json_feed, rss
from articles.outputs.build import LAST_PAGE, Addresses, build_page, last_changed
from articles.outputs.item import Channel, Item

READ_EVERY = timedelta(hours=1)  # how exact `last_read` needs to be


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a personal feed."""

    content_type: str
    write: Callable[[Channel, Sequence[Item]], bytes]


FORMATS = {
    "rss": Format(rss.CONTENT_TYPE, rss.write_rss),
    "atom": Format(atom.CONTENT_TYPE, atom.write_atom),
    "json": Format(json_feed.CONTENT_TYPE, json_feed.write_json_feed),
}


@login_not_required
@require_safe
def personal_feed(request: HttpRequest, token: str, kind: str) -> HttpResponseBase:
    """One page of a personal feed: 200 or 304; 404 for an unknown address, 410 for a revoked one."""
    known = PersonalFeedToken.objects.select_related("personal_feed__subscriber__user")
    row = known.filter(token=token).first()
    if row is None or kind not in FORMATS:
        return _private(HttpResponse("There is no such feed.\n", "text/plain", status=404))
    if row.revoked is not None or row.personal_feed is None:
        return _private(HttpResponse("This address was revoked.\n", "text/plain", status=410))
    if not row.personal_feed.subscriber.user.is_active:
        return _private(HttpResponse("There is no such feed.\n", "text/plain", status=404))
    _note_reading(row)
    addresses = Addresses(request.build_absolute_uri(request.path), request.build_absolute_uri(reverse("me")))
    channel, items = build_page(row.personal_feed, _page_number(request), addresses)
    body = FORMATS[kind].write(channel, items)
    changed = last_changed(row.personal_feed, channel)
    return _answer(request, body, FORMATS[kind].content_type, changed)


def _answer(request: HttpRequest, body: bytes, content_type: str, changed: datetime) -> HttpResponseBase:
    """The document, or 304. Each encoding has its own strong validator (RFC 9110, section 8.8.3.3)."""
    digest = hashlib.blake2b(body, digest_size=16).hexdigest()
    zipped = _takes_gzip(request)
    response = HttpResponse(content_type=content_type)
    response.headers["ETag"] = etag = f'"{digest}-gzip"' if zipped else f'"{digest}"'
    response.headers["Last-Modified"] = http_date(changed.timestamp())
    response.headers["Vary"] = "Accept-Encoding"
    answer = get_conditional_response(request, etag, int(changed.timestamp()), response)
    if answer is response:
        # Without a time in it, so that the same document always has the same bytes.
        response.content = gzip.compress(body, compresslevel=6, mtime=0) if zipped else body
        if zipped:
            response.headers["Content-Encoding"] = "gzip"
    return _private(answer or response)


def _private(response: HttpResponseBase) -> HttpResponseBase:
    """Nobody else may keep it, find it, or learn its address from a link that is followed."""
    response.headers["Cache-Control"] = "private, max-age=60"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _takes_gzip(request: HttpRequest) -> bool:
    """Whether Accept-Encoding allows gzip (RFC 9110, section 12.5.3)."""
    weights: dict[str, float] = {}
    for part in request.headers.get("Accept-Encoding", "").split(","):
        name, _, parameter = part.partition(";")
        try:
            weight = float(parameter.partition("=")[2]) if parameter.strip() else 1.0
        except ValueError:
            weight = 0.0
        weights[name.strip().lower()] = weight
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _page_number(request: HttpRequest) -> int:
    given = request.GET.get("page", "1")
    if not (given.isascii() and given.isdecimal() and 1 <= int(given[:6]) <= LAST_PAGE):
        raise Http404("there is no such page")
    return int(given[:6])


def _note_reading(row: PersonalFeedToken) -> None:
    """Remember that the address is in use; not at every reading, which would write for every 304."""
    now = datetime.now(UTC)
    if row.last_read is None or now - row.last_read > READ_EVERY:
        PersonalFeedToken.objects.filter(pk=row.pk).update(last_read=now)
