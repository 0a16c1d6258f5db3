"""Pages about a subscriber's learned interests."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from articles.interest import feedback
from articles.interest.export import MAX_EXPORTED, export
from articles.interest.learned import forgotten_features, strongest
from articles.interest.log import delete_all, forget, remember, reset
from articles.interest.models import Event
from articles.interest.scoring import explain
from articles.models import Article
from articles.personal.following import subscriber_of
from crawler.web.pages import safe_next
from crawler.web.pagination import page_of


@never_cache
@require_safe
def learned(request: HttpRequest) -> HttpResponse:
    """Show the strongest likes and dislikes, forgotten features, and actions on them."""
    subscriber = subscriber_of(request.user)
    context = {
        "learned": strongest(subscriber, datetime.now(UTC)),
        "forgotten": forgotten_features(subscriber),
        "events": Event.objects.filter(subscriber=subscriber).exists(),
        "most_exported": MAX_EXPORTED,
    }
    return render(request, "interest/learned.html", context)


@never_cache
@require_safe
def log(request: HttpRequest) -> HttpResponse:
    """Show the subscriber's own events, newest first; with `all=1` also articles merely shown."""
    subscriber = subscriber_of(request.user)
    everything = request.GET.get("all") == "1"
    events = Event.objects.filter(subscriber=subscriber)
    events = (events if everything else events.done()).order_by("-id").select_related("article")
    listed = events.only("kind", "at", "undone", "article__title", "article__identity", "subscriber")
    context = {"page": page_of(request, listed), "everything": everything}
    return render(request, "interest/log.html", context)


@require_POST
def undo_event(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo one of the subscriber's own events; undoing a save removes the star."""
    subscriber, now = subscriber_of(request.user), datetime.now(UTC)
    event = get_object_or_404(Event, pk=pk, subscriber=subscriber)
    feedback.undo_event(event, now)
    messages.success(request, _("It was undone: your weights are as if it had not happened."))
    return redirect(safe_next(request, "interest-log"))


@require_POST
def forget_feature(request: HttpRequest) -> HttpResponse:
    """Forget one feature."""
    feature = _feature(request)
    forget(subscriber_of(request.user), feature, datetime.now(UTC))
    messages.success(
        request,
        _("Forgotten: %(feature)s. It is learned anew from now on.")
        % {"feature": feature.replace(":", " ", 1)},
    )
    return redirect("interest-learned")


@require_POST
def remember_feature(request: HttpRequest) -> HttpResponse:
    """Undo the forgetting of a feature."""
    feature = _feature(request)
    remember(subscriber_of(request.user), feature, datetime.now(UTC))
    messages.success(
        request,
        _("Learned again from all of your log: %(feature)s.") % {"feature": feature.replace(":", " ", 1)},
    )
    return redirect("interest-learned")


@require_POST
def reset_all(request: HttpRequest) -> HttpResponse:
    """Undo all events and reset the weights."""
    undone = reset(subscriber_of(request.user), datetime.now(UTC))
    messages.success(
        request,
        _("Reset: %(undone)s events were undone; lists by interest are newest first again.")
        % {"undone": undone},
    )
    return redirect("interest-learned")


@require_POST
def delete_everything(request: HttpRequest) -> HttpResponse:
    """Delete the log and the weights."""
    deleted = delete_all(subscriber_of(request.user))
    messages.success(
        request, _("Deleted: %(deleted)s events, and all that was learned from them.") % {"deleted": deleted}
    )
    return redirect("interest-learned")


@never_cache
@require_safe
def export_all(request: HttpRequest) -> HttpResponse:
    """Return weights and log as a JSON file."""
    body = orjson.dumps(export(subscriber_of(request.user), datetime.now(UTC)), option=orjson.OPT_INDENT_2)
    headers = {"Content-Disposition": 'attachment; filename="interest.json"'}
    return HttpResponse(body, "application/json", headers=headers)


@never_cache
@require_safe
def why(request: HttpRequest, pk: int) -> HttpResponse:
    """Explain an article's place in a list; `exploring=1` when it was shown to learn about it."""
    subscriber, now = subscriber_of(request.user), datetime.now(UTC)
    rows = Article.objects.select_related("feed").only("title", "identity", "published", "feed__title")
    article = get_object_or_404(rows, pk=pk)
    explanation = explain(subscriber, pk, now)
    if explanation is None:
        raise Http404("the article is gone")
    context = {
        "article": article,
        "explanation": explanation,
        "exploring": request.GET.get("exploring") == "1",
        "given": feedback.given(subscriber, [pk])[pk],
    }
    return render(request, "interest/why.html", context)


def _feature(request: HttpRequest) -> str:
    feature = request.POST.get("feature", "").replace("\0", "")
    if ":" not in feature:
        raise Http404("there is no such feature")
    return feature
