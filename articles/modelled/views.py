"""Pages of questions to a language model: ask about an article, see how far it is, cancel."""

from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from articles.modelled.asking import CannotAskError, ask_about, cancel
from articles.modelled.models import ModelTask
from articles.modelled.wording import address_of, shown
from articles.models import Article
from articles.personal.following import subscriber_of
from crawler.web.limits import LimitReached
from crawler.web.pages import safe_next, wants_part


@require_POST
def ask(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Ask about an article, and go back to it, where the answer will stand."""
    need_model()
    rows = Article.objects.select_related("page").defer("search", "page__html")
    article = get_object_or_404(rows, pk=pk)
    back = safe_next(request, reverse("read-article", args=[pk])).partition("#")[0]
    try:
        language = request.POST.get("language", "")
        row = ask_about(subscriber_of(request.user), kind, article, language, datetime.now(UTC))
    except (CannotAskError, LimitReached) as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(back)
    return HttpResponseRedirect(f"{back}#model-{row.pk}")


@require_safe
@never_cache
def task(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far a question is, or its answer: for htmx its box, else the article with it."""
    return _answer(request, own_task(request, pk))


@require_POST
def cancel_task(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a question that has no answer yet."""
    row = own_task(request, pk)
    cancel(row, datetime.now(UTC))
    row.refresh_from_db()
    return _answer(request, row)


def own_task(request: HttpRequest, pk: int) -> ModelTask:
    """Return a question of the person who asks for the page. Raises Http404."""
    need_model()
    return get_object_or_404(ModelTask, pk=pk, subscriber=subscriber_of(request.user))


def need_model() -> None:
    """Raise Http404 where there is no language model."""
    if not settings.MODEL_URL:
        raise Http404("there is no language model")


def _answer(request: HttpRequest, row: ModelTask) -> HttpResponse:
    if wants_part(request):
        article = Article.objects.only("language").filter(model_tasks=row).first()
        return render(request, "modelled/_task.html", {"shown": shown(row), "article": article})
    back = safe_next(request, address_of(row)).partition("#")[0]
    return HttpResponseRedirect(f"{back}#model-{row.pk}")
