"""Pages about a subscriber's interests: what was learned, and what they have set themselves."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import orjson
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from articles.interest import feedback
from articles.interest.export import MAX_EXPORTED, export
from articles.interest.learned import forgotten_features, strongest
from articles.interest.log import delete_all, forget, remember, reset
from articles.interest.model import KINDS
from articles.interest.models import Event
from articles.interest.scoring import MIN_REASON_LOG_ODDS, explain
from articles.interest.tuning import STEPS, feature_named, mute, put_back, switch_learning, tune, tuning_of
from articles.models import Article, Subscriber
from articles.personal.following import subscriber_of
from crawler.web import undo
from crawler.web.pages import safe_next
from crawler.web.pagination import page_of
from crawler.web.setting_lines import answer_kept
from crawler.web.settings_tabs import TABS

REASONS_SHOWN = 3


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def learned(request: HttpRequest) -> HttpResponse:
    """Show the sliders of what interests the subscriber, or keep one that was moved."""
    subscriber, now = subscriber_of(request.user), datetime.now(UTC)
    if request.method == "POST":
        return _keep(request, subscriber, now)
    tuning = tuning_of(subscriber, now)
    context = {
        "tab": TABS["interests"],
        "kept_at_once": True,
        "tuning": tuning,
        "liked": [each.label.name for each in tuning.sliders if each.step > 0 and not each.muted][:3],
        "disliked": [each.label.name for each in tuning.sliders if each.step < 0][:3],
        "most_exported": MAX_EXPORTED,
        "steps": [str(words) for words in STEPS.values()],
    }
    return render(request, "settings/interests.html", context)


@never_cache
@require_safe
def weights(request: HttpRequest) -> HttpResponse:
    """Show every weight with its deviation, and what was forgotten: the page for experts."""
    subscriber = subscriber_of(request.user)
    context = {
        "tab": TABS["interests"],
        "learned": strongest(subscriber, datetime.now(UTC)),
        "forgotten": forgotten_features(subscriber),
    }
    return render(request, "interest/learned.html", context)


def _keep(request: HttpRequest, subscriber: Subscriber, now: datetime) -> HttpResponse:
    """Keep what the form of the sliders says, and offer to undo it."""
    posted = request.POST
    before = None
    if name := posted.get("mute", "") or posted.get("unmute", ""):
        before = mute(subscriber, _named(name), now, muted="mute" in posted)
        words = _("Muted: such articles never come into “For you”.") if "mute" in posted else _("Not muted.")
    elif "add" in posted and (name := feature_named(subscriber, posted["add"])):
        before, words = tune(subscriber, {name: 2}, now), _("You will see more of it.")
    elif name := posted.get("show", ""):
        before, words = tune(subscriber, {_named(name): 1}, now), _("It has a slider now.")
    elif "sliders" in posted:
        before, words = _moved(request, subscriber, now)
    elif "learning" in posted:
        switch_learning(subscriber, now, learns="learns" in posted)
    if before is not None:
        undo.offer(request, words, "interest-tuning", before)
    is_kept_at_once = "sliders" in posted or "learning" in posted
    return answer_kept(request, "interest-learned") if is_kept_at_once else redirect("interest-learned")


def _moved(request: HttpRequest, subscriber: Subscriber, now: datetime) -> tuple[dict[str, Any] | None, str]:
    """Keep the sliders that were moved. Returns what undoes it, and what was done in words."""
    tuning = tuning_of(subscriber, now)
    posted_steps = {each.feature: request.POST.get(f"step {each.feature}", "") for each in tuning.sliders}
    moved = {
        each.feature: int(posted_steps[each.feature])
        for each in tuning.sliders
        if re.fullmatch("-?[0-3]", posted_steps[each.feature])
        and int(posted_steps[each.feature]) != each.step
    }
    if not moved:
        return None, ""
    return tune(subscriber, moved, now), _("Kept. “For you” goes by it from now on.")


@undo.register("interest-tuning")
def _tune_back(user: User, before: Any) -> str:
    put_back(subscriber_of(user), before, datetime.now(UTC))
    return _("It is as before.")


@never_cache
@require_safe
def log(request: HttpRequest) -> HttpResponse:
    """Show the subscriber's own events, newest first; with `all=1` also articles merely shown."""
    subscriber = subscriber_of(request.user)
    everything = request.GET.get("all") == "1"
    events = Event.objects.filter(subscriber=subscriber)
    events = (events if everything else events.done()).order_by("-id").select_related("article")
    listed = events.only("kind", "at", "undone", "article__title", "article__identity", "subscriber")
    context = {"tab": TABS["interests"], "page": page_of(request, listed), "everything": everything}
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
    return redirect("interest-weights")


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
    parts = [part for part in explanation.parts if abs(part.contribution) >= MIN_REASON_LOG_ODDS]
    context = {
        "tab": TABS["interests"],
        "article": article,
        "for_it": [str(part.label) for part in parts if part.contribution > 0][:REASONS_SHOWN],
        "against_it": [str(part.label) for part in parts if part.contribution < 0][:REASONS_SHOWN],
        "explanation": explanation,
        "exploring": request.GET.get("exploring") == "1",
        "given": feedback.given(subscriber, [pk])[pk],
    }
    return render(request, "interest/why.html", context)


def _feature(request: HttpRequest) -> str:
    return _named(request.POST.get("feature", ""))


def _named(text: str) -> str:
    """Return a feature's name. Raises Http404 for what cannot be one."""
    feature = text.replace("\0", "")
    if feature.partition(":")[0] not in KINDS or feature.endswith(":"):
        raise Http404("there is no such feature")
    return feature
