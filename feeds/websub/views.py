"""The callback for hubs: they confirm subscriptions, and push new entries.

Only the signature of a push is checked here; terminals parse its content.
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
from feeds.visiting.selection import retrieve_now
from feeds.websub.models import HubSubscription, Push
from feeds.websub.protocol import signed
from feeds.websub.subscriptions import confirm, deny

MAX_CHALLENGE_LENGTH = 4096


@csrf_exempt
@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def callback(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm a subscription (GET) or store a push (POST). Returns 410 when the subscription no longer
    exists.
    """
    subscription = HubSubscription.objects.select_related("feed").filter(token=token).first()
    if subscription is None:
        return _plain("nobody listens here", 410)
    return _verify(request, subscription) if request.method == "GET" else _receive(request, subscription)


def _verify(request: HttpRequest, subscription: HubSubscription) -> HttpResponse:
    parameters = request.GET
    now = datetime.now(UTC)
    mode, topic = parameters.get("hub.mode", ""), parameters.get("hub.topic", "")
    if mode == "denied":
        if topic == subscription.topic:
            deny(subscription, parameters.get("hub.reason", ""), now)
        return _plain("", 200)
    challenge = parameters.get("hub.challenge", "")
    is_request = mode == "subscribe" and 0 < len(challenge) <= MAX_CHALLENGE_LENGTH
    if is_request and confirm(subscription, topic, parameters.get("hub.lease_seconds", ""), now):
        return _plain(challenge, 200)
    return _plain("this was not asked for", 404)


def _receive(request: HttpRequest, subscription: HubSubscription) -> HttpResponse:
    feed = subscription.feed
    if feed.status != Feed.Status.ACTIVE:
        return _plain("the feed is not read any more", 410)
    # One byte more than allowed tells that there is more.
    body = request.read(settings.FETCH_MAX_BYTES + 1)
    if len(body) > settings.FETCH_MAX_BYTES:
        return _plain("too large", 413)
    # Answered with a 2xx as well, so that nobody can guess secrets (section 8).
    if not signed(request.headers.get("X-Hub-Signature", ""), subscription.secret, body):
        HubSubscription.objects.filter(pk=subscription.pk).update(rejected=F("rejected") + 1)
        return _plain("", 202)
    # A visit brings what further pushes would, at once.
    if not Push.keep(feed, body, request.headers.get("Content-Type", "")):
        retrieve_now(Feed.objects.filter(pk=feed.pk), "its hub pushes faster than pushes are read")
    wake_controller()
    return _plain("", 202)


def _plain(text: str, status: int) -> HttpResponse:
    return HttpResponse(text, "text/plain; charset=utf-8", status)
