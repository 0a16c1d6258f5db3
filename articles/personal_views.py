"""Serves personal feeds at their secret addresses, with validators, in the encoding the reader takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from articles.models import PersonalFeedToken
from articles.outputs.build import LAST_PAGE, Addresses, build_page, last_changed
from crawler.syndication.answer import answer, private
from crawler.syndication.formats import FORMATS

READ_EVERY = timedelta(hours=1)  # how exact `last_read` needs to be


@login_not_required
@require_safe
def personal_feed(request: HttpRequest, token: str, kind: str) -> HttpResponseBase:
    """One page of a personal feed: 200 or 304; 404 for an unknown address, 410 for a revoked one."""
    known = PersonalFeedToken.objects.select_related("personal_feed__subscriber__user")
    row = known.filter(token=token).first()
    if row is None or kind not in FORMATS:
        return private(HttpResponse("There is no such feed.\n", "text/plain", status=404))
    if row.revoked is not None or row.personal_feed is None:
        return private(HttpResponse("This address was revoked.\n", "text/plain", status=410))
    if not row.personal_feed.subscriber.user.is_active:
        return private(HttpResponse("There is no such feed.\n", "text/plain", status=404))
    _note_reading(row)
    addresses = Addresses(request.build_absolute_uri(request.path), request.build_absolute_uri(reverse("me")))
    channel, items = build_page(row.personal_feed, _page_number(request), addresses)
    body = FORMATS[kind].write(channel, items)
    changed = last_changed(row.personal_feed, channel)
    return answer(request, body, FORMATS[kind].content_type, changed)


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
