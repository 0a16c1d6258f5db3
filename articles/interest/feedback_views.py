"""The buttons on articles: more, less, hide, save, and each taken back. With and without JavaScript."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from articles.interest import feedback
from articles.models import Article, Subscriber
from articles.personal.following import subscriber_of
from crawler.web.listing import wants_part

SAID = {
    "more": "You will see more like it.",
    "less": "You will see less like it.",
    "hide": "It is hidden from your lists by interest.",
    "save": "It is saved.",
}
TAKEN_BACK = "It was taken back; your weights are as if you had not said it."


@login_required
@require_POST
def give(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Say something of an article."""
    subscriber, article = _known(request, pk, kind)
    feedback.give(subscriber, article.pk, kind, datetime.now(UTC))
    return _answer(request, subscriber, article, SAID[kind])


@login_required
@require_POST
def take_back(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Take it back."""
    subscriber, article = _known(request, pk, kind)
    feedback.take_back(subscriber, article.pk, kind, datetime.now(UTC))
    return _answer(request, subscriber, article, TAKEN_BACK)


def safe_next(request: HttpRequest, otherwise: str) -> str:
    """Where a form wants to go on, if that is here; else `otherwise`."""
    wanted = request.POST.get("next", "")
    here = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if here else otherwise


def _known(request: HttpRequest, pk: int, kind: str) -> tuple[Subscriber, Article]:
    if kind not in feedback.WORDS:
        raise Http404(f"there is no button {kind!r}")
    article = get_object_or_404(Article.objects.only("pk", "title", "identity"), pk=pk)
    return subscriber_of(request.user), article


def _answer(request: HttpRequest, subscriber: Subscriber, article: Article, said: str) -> HttpResponse:
    """The buttons for htmx, else the page that the form was on with a message."""
    going_on = safe_next(request, article.get_absolute_url())
    if not wants_part(request):
        messages.success(request, f"{article}: {said}"[:300])
        return HttpResponseRedirect(going_on)
    given = feedback.given(subscriber, [article.pk])[article.pk]
    context = {"article": article, "given": given, "next": going_on, "said": said}
    return render(request, "interest/_feedback.html", context)
