"""The address of our hub, which personal feeds announce."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import get_script_prefix
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crawler.notices.hub import HubError, UnknownTopic, is_served, read_topic, request_change
from crawler.notices.tasks import push_feeds
from crawler.web.attempts import attempts_of, count_attempt, exhausted, seconds_to_wait


@csrf_exempt
@login_not_required
@require_POST
def hub(request: HttpRequest) -> HttpResponse:
    """Take a subscription request: 202 when it is noted, 400 when it is none, 404 for an unknown feed."""
    now, topic = datetime.now(UTC), request.POST.get("hub.topic", "")
    try:
        if not topic.startswith(request.build_absolute_uri(f"{get_script_prefix()}personal/")):
            raise UnknownTopic("hub.topic is not the address of a feed that is announced here")
        state, _kind = read_topic(topic, attempts_of("personal-feed", request, now, topic))
        if not is_served(state):
            if exhausted(state.failures):
                return HttpResponse(status=429, headers={"Retry-After": str(seconds_to_wait(now))})
            count_attempt("personal-feed", request, now, topic)
            raise UnknownTopic("hub.topic is not the address of a feed that is announced here")
        request_change(state, request.POST.dict(), now)
    except UnknownTopic as error:
        return HttpResponse(f"{error}\n", "text/plain", status=404)
    except HubError as error:
        return HttpResponse(f"{error}\n", "text/plain", status=400)
    push_feeds.delay(look=False)
    return HttpResponse(status=202)
