"""Buttons on articles: more, less, hide, save, and their undoing. They work with and without JavaScript."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from articles.interest import feedback
from articles.models import Article, Subscriber
from articles.personal.following import subscriber_of
from articles.personal.rating import read_feedback_address
from crawler.text.words import Words
from crawler.web import undo
from crawler.web.pages import safe_next, wants_part

SAID = {
    "more": gettext_lazy("You will see more like it."),
    "less": gettext_lazy("You will see less like it."),
    "hide": gettext_lazy("It is hidden from your lists by interest."),
    "save": gettext_lazy("It is saved."),
}
RATED = SAID | {"hide": gettext_lazy("It is hidden from your feeds."), "save": gettext_lazy("It is starred.")}
TAKEN_BACK = gettext_lazy("It was taken back; your weights are as if you had not said it.")


@require_POST
def give(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Note the feedback of a button on an article."""
    subscriber, article = _known(request, pk, kind)
    feedback.give(subscriber, article.pk, kind, datetime.now(UTC))
    if kind == "hide":
        undo.offer(request, f"{article}: {SAID[kind]}"[:300], "interest.hide", article.pk)
    return _answer(request, subscriber, article, SAID[kind])


@undo.register("interest.hide")
def _show_again(user: User, pk: Any) -> str:
    feedback.take_back(subscriber_of(user), pk, "hide", datetime.now(UTC))
    return _("It is back in your lists.")


@require_POST
def take_back(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Undo the feedback of a button on an article."""
    subscriber, article = _known(request, pk, kind)
    feedback.take_back(subscriber, article.pk, kind, datetime.now(UTC))
    return _answer(request, subscriber, article, TAKEN_BACK)


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rate(request: HttpRequest, signed: str) -> HttpResponse:
    """Show the feedback page that items of personal feeds link to, or note its feedback on POST. Needs no
    account.

    A GET changes nothing, so that no preview can vote.
    """
    rated = read_feedback_address(signed)
    if rated is None:
        return render(request, "me/feedback_gone.html", status=404)
    personal_feed, article = rated
    word = request.POST.get("word", "") if request.method == "POST" else ""
    undone = word.removeprefix("undo-")
    if word in RATED:
        feedback.give(personal_feed.subscriber, article.pk, word, datetime.now(UTC))
    elif word.startswith("undo-") and undone in RATED:
        feedback.take_back(personal_feed.subscriber, article.pk, undone, datetime.now(UTC))
    elif request.method == "POST":
        return HttpResponse(_("There is no such button.\n"), "text/plain", status=400)
    notice = _("It was taken back.") if word and word not in RATED else RATED.get(word, "")
    context = {"article": article, "personal_feed": personal_feed, "said": notice, "word": word}
    return render(request, "me/feedback.html", context)


def _known(request: HttpRequest, pk: int, kind: str) -> tuple[Subscriber, Article]:
    if kind not in feedback.WORDS:
        raise Http404(f"there is no button {kind!r}")
    article = get_object_or_404(Article.objects.only("pk", "title", "identity"), pk=pk)
    return subscriber_of(request.user), article


def _answer(request: HttpRequest, subscriber: Subscriber, article: Article, notice: Words) -> HttpResponse:
    """Return the buttons for htmx, else redirect to the form's page with a message."""
    going_on = safe_next(request, article.get_absolute_url())
    if not wants_part(request):
        if notice != SAID["hide"]:  # which is offered for undoing
            messages.success(request, f"{article}: {notice}"[:300])
        return HttpResponseRedirect(going_on)
    words = feedback.given(subscriber, [article.pk])[article.pk]
    context = {"article": article, "given": words, "next": going_on, "said": notice}
    return render(request, "interest/_feedback.html", context)
