"""Pages of questions to several articles: the page to ask, the morning brief, and a story's summary."""

from __future__ import annotations

from datetime import UTC, datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from articles.enrichment.models import Story
from articles.modelled.asking import CannotAskError
from articles.modelled.models import ModelTask
from articles.modelled.questions import ask_about_story, ask_archive, ask_brief, former_questions
from articles.modelled.views import need_model, own_task
from articles.modelled.wording import address_of, shown
from articles.personal.following import subscriber_of
from crawler.web.limits import LimitReached

MAX_FORMER = 30


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def ask_page(request: HttpRequest) -> HttpResponse:
    """Show the field for a question and former questions, or ask what was typed."""
    need_model()
    if request.method != "POST":
        return _page(request)
    question = request.POST.get("question", "")
    try:
        row = ask_archive(subscriber_of(request.user), question, datetime.now(UTC))
    except (CannotAskError, LimitReached) as error:
        messages.error(request, str(error))
        return _page(request, question=question)
    return HttpResponseRedirect(address_of(row))


@require_safe
@never_cache
def answer_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a question to the archive or a morning brief: how far it is, or the answer."""
    row = own_task(request, pk)
    if (address := address_of(row)) != request.path:
        return HttpResponseRedirect(f"{address}#model-{row.pk}")
    return _page(request, row, str(row.subject.get("question", "")))


@require_POST
def morning_brief(request: HttpRequest) -> HttpResponse:
    """Ask for a brief of the last day, and go to the page where it will stand."""
    need_model()
    try:
        row = ask_brief(subscriber_of(request.user), datetime.now(UTC))
    except (CannotAskError, LimitReached) as error:
        messages.error(request, str(error))
        return redirect("ask")
    return HttpResponseRedirect(address_of(row))


@require_POST
def story_summary(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask what the articles of a story tell, and go back to it, where the answer will stand."""
    need_model()
    story = get_object_or_404(Story, pk=pk)
    back = reverse("story", args=[pk])
    try:
        row = ask_about_story(subscriber_of(request.user), story, datetime.now(UTC))
    except (CannotAskError, LimitReached) as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(back)
    return HttpResponseRedirect(f"{back}#model-{row.pk}")


def _page(request: HttpRequest, row: ModelTask | None = None, question: str = "") -> HttpResponse:
    former = [each for each in former_questions(subscriber_of(request.user), MAX_FORMER) if each != row]
    context = {"shown": shown(row) if row else None, "question": question, "former": former}
    return render(request, "modelled/ask.html", context)
