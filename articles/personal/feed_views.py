"""Serves personal feeds at their secret addresses, with validators, in the encoding the reader takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from articles.models import PersonalFeed
from articles.personal.outputs import LAST_PAGE, Addresses, build_page, last_changed
from articles.personal.versions import keep_validators, note_reading, reading
from crawler.web.attempts import attempts_of, count_attempt, exhausted, seconds_to_wait
from crawler.web.syndication.answer import answer, digest_of, not_modified, private
from crawler.web.syndication.formats import FORMATS

READ_EVERY = timedelta(hours=1)  # how exact `last_read` needs to be: not every 304 is to write


@login_not_required
@require_safe
def personal_feed(request: HttpRequest, token: str, kind: str) -> HttpResponseBase:
    """One page of a personal feed: 200 or 304; 404 for an unknown address, 410 for a revoked one.

    Who asks for many unknown addresses gets 429 for further ones for a while.
    """
    now = datetime.now(UTC)
    number = _page_number(request)
    addresses = Addresses(request.build_absolute_uri(request.path), request.build_absolute_uri("/"))
    attempts = attempts_of("personal-feed", request, now, token)
    asked = reading(token, addresses.self_url, kind, number, attempts)
    if asked.token is None and exhausted(asked.failures):
        words = "Too many unknown addresses were asked for from where you are.\n"
        headers = {"Retry-After": str(seconds_to_wait(now))}
        return private(HttpResponse(words, "text/plain", status=429, headers=headers))
    if asked.token is None:
        count_attempt("personal-feed", request, now, token)
    if asked.token is None or kind not in FORMATS:
        return private(HttpResponse("There is no such feed.\n", "text/plain", status=404))
    if asked.revoked is not None or asked.personal_feed is None:
        return private(HttpResponse("This address was revoked.\n", "text/plain", status=410))
    if not asked.active:
        return private(HttpResponse("There is no such feed.\n", "text/plain", status=404))
    if asked.last_read is None or now - asked.last_read > READ_EVERY:
        note_reading(asked, now)
    if asked.known and asked.changed is not None:
        known = not_modified(request, asked.digest, asked.changed)
        if known is not None:
            return known
    wanted = PersonalFeed.objects.select_related("subscriber").get(pk=asked.personal_feed)
    channel, items = build_page(wanted, number, addresses)
    body, changed = FORMATS[kind].write(channel, items), last_changed(wanted, channel)
    if not asked.known:
        keep_validators(asked, kind, number, digest_of(body), changed)
    return answer(request, body, FORMATS[kind].content_type, changed)


def _page_number(request: HttpRequest) -> int:
    given = request.GET.get("page", "1")
    if not (given.isascii() and given.isdecimal() and 1 <= int(given[:6]) <= LAST_PAGE):
        raise Http404("there is no such page")
    return int(given[:6])
