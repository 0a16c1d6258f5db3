"""The callback that hubs reach us by: they confirm subscriptions, and push what is new.

Nothing that a hub sends is looked into here but its signature: terminals read it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from crawler.engine.wake import wake_controller
from feeds.models import Feed
from feeds.selection import retrieve_now
from feeds.websub.models import HubSubscription, Push
from feeds.websub.protocol import signed
from feeds.websub.subscriptions import confirm, deny

LONGEST_CHALLENGE = 4096


@csrf_exempt
@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def callback(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm (GET) or take a push (POST). 410 tells a hub that nobody listens here any more."""
    one = HubSubscription.objects.select_related("feed").filter(token=token).first()
    if one is None:
        return _plain("nobody listens here", 410)
    return _verify(request, one) if request.method == "GET" else _receive(request, one)


def _verify(request: HttpRequest, one: HubSubscription) -> HttpResponse:
    said = request.GET
    now = datetime.now(UTC)
    mode, topic = said.get("hub.mode", ""), said.get("hub.topic", "")
    if mode == "denied":
        if topic == one.topic:
            deny(one, said.get("hub.reason", ""), now)
        return _plain("", 200)
    challenge = said.get("hub.challenge", "")
    wanted = mode == "subscribe" and 0 < len(challenge) <= LONGEST_CHALLENGE
    if wanted and confirm(one, topic, said.get("hub.lease_seconds", ""), now):
        return _plain(challenge, 200)
    return _plain("this was not asked for", 404)


def _receive(request: HttpRequest, one: HubSubscription) -> HttpResponse:
    feed = one.feed
    if feed.status != Feed.Status.ACTIVE:
        return _plain("the feed is not read any more", 410)
    body = request.read(settings.FETCH_MAX_BYTES + 1)
    if len(body) > settings.FETCH_MAX_BYTES:
        return _plain("too large", 413)
    # Told with a 2xx all the same, so that nobody can try secrets out (section 8).
    if not signed(request.headers.get("X-Hub-Signature", ""), one.secret, body):
        HubSubscription.objects.filter(pk=one.pk).update(rejected=F("rejected") + 1)
        return _plain("", 202)
    if not Push.keep(feed, body, request.headers.get("Content-Type", "")):
        retrieve_now(Feed.objects.filter(pk=feed.pk), "its hub pushes faster than pushes are read")
    wake_controller()
    return _plain("", 202)


def _plain(text: str, status: int) -> HttpResponse:
    return HttpResponse(text, "text/plain; charset=utf-8", status)
