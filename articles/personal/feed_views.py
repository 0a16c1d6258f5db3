"""The view of personal feeds at their secret addresses, with validators, in the format requested."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from articles.models import PersonalFeed
from articles.personal.following import export_subscriptions
from articles.personal.outputs import HUB_PATH, LAST_PAGE, Addresses, build_page, last_changed
from articles.personal.selection import has_list
from articles.personal.versions import Reading, keep_validators, note_reading, reading
from crawler.database.readers import read_as
from crawler.web.attempts import attempts_of, count_attempt, exhausted, seconds_to_wait
from crawler.web.syndication.answer import answer, digest_of, not_modified, private
from crawler.web.syndication.formats import FORMATS

READ_EVERY = timedelta(hours=1)  # how exact `last_read` needs to be: not every 304 is to write


@login_not_required
@require_safe
def personal_feed(request: HttpRequest, token: str, kind: str) -> HttpResponseBase:
    """Return one page of a personal feed: 200 or 304; 404 for an unknown address, 410 for a revoked one.

    A client that requests many unknown addresses gets 429 for further ones for a while.
    """
    now = datetime.now(UTC)
    number = _page_number(request)
    addresses = Addresses(request.build_absolute_uri(request.path), request.build_absolute_uri("/"))
    attempts = attempts_of("personal-feed", request, now, token)
    visit = reading(token, addresses.self_url, kind, number, attempts)
    if refusal := _refusal(request, token, visit, now):
        return refusal
    if visit.last_read is None or now - visit.last_read > READ_EVERY:
        note_reading(visit, now)
    if visit.known and visit.changed is not None:
        unchanged = not_modified(request, visit.digest, visit.changed)
        if unchanged is not None:
            return unchanged
    row = PersonalFeed.objects.select_related("subscriber").get(pk=visit.personal_feed or 0)
    read_as(row.subscriber.user_id)
    channel, items = build_page(row, number, addresses)
    body, changed = FORMATS[kind].write(channel, items), last_changed(row, channel)
    if not visit.known:
        keep_validators(visit, kind, number, digest_of(body), changed)
    response = answer(request, body, FORMATS[kind].content_type, changed)
    links = f'<{addresses.under(HUB_PATH)}>; rel="hub", <{addresses.self_url}>; rel="self"'
    response.headers["Link"] = links
    return response


@login_not_required
@require_safe
def personal_list(request: HttpRequest, token: str) -> HttpResponseBase:
    """Return the feeds of a personal feed's folder as OPML, for programs that follow such a list."""
    now, address = datetime.now(UTC), request.build_absolute_uri(request.path)
    visit = reading(token, address, "opml", 1, attempts_of("personal-feed", request, now, token))
    if refusal := _refusal(request, token, visit, now):
        return refusal
    row = PersonalFeed.objects.select_related("subscriber__user").get(pk=visit.personal_feed or 0)
    read_as(row.subscriber.user_id)
    if not has_list(row):
        return private(HttpResponse(_("There is no such feed.\n"), "text/plain", status=404))
    body = export_subscriptions(row.subscriber, row.folder, row.name)
    return private(HttpResponse(body, "text/x-opml; charset=utf-8"))


def _refusal(request: HttpRequest, token: str, visit: Reading, now: datetime) -> HttpResponseBase | None:
    """Return the answer to an address that serves nothing, None for one that does."""
    if visit.token is None and exhausted(visit.failures):
        message = _("Too many unknown addresses were asked for from where you are.\n")
        headers = {"Retry-After": str(seconds_to_wait(now))}
        return private(HttpResponse(message, "text/plain", status=429, headers=headers))
    if visit.token is None:
        count_attempt("personal-feed", request, now, token)
        return private(HttpResponse(_("There is no such feed.\n"), "text/plain", status=404))
    if visit.revoked is not None or visit.personal_feed is None:
        return private(HttpResponse(_("This address was revoked.\n"), "text/plain", status=410))
    if not visit.active:
        return private(HttpResponse(_("There is no such feed.\n"), "text/plain", status=404))
    return None


def _page_number(request: HttpRequest) -> int:
    text = request.GET.get("page", "1")
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:6]) <= LAST_PAGE):
        raise Http404("there is no such page")
    return int(text[:6])
