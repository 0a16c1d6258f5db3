"""Pages and buttons of saved pages and highlights."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from rest_framework.exceptions import ValidationError

from articles.exporting.answers import export_page
from articles.exporting.querying import article_rows
from articles.models import Article
from articles.personal.following import subscriber_of
from articles.personal.labels import TooManyLabels
from articles.saved.api import HighlightFilter, highlights_file
from articles.saved.highlighting import NoSuchQuote, cleaned_tags, highlights_of, make_highlight
from articles.saved.marks import AROUND
from articles.saved.models import MAX_NOTE, Highlight, SavedPage
from articles.saved.saving import PageToSave, remove_saved, save_article, save_page, try_again
from crawler.fetching.http.urls import BadUrl
from crawler.text.characters import storable
from crawler.web.limits import LimitReached
from crawler.web.pages import safe_next
from crawler.web.pagination import page_of

HIGHLIGHTS = 50
"""Highlights of one page of the list."""


def saved_address(**parameters: str) -> str:
    """Return the address of the list of saved pages."""
    return f"{reverse('read')}?{urlencode({'show': 'saved'} | parameters)}"


@require_http_methods(["GET", "HEAD", "POST"])
def saved(request: HttpRequest) -> HttpResponse:
    """Save the page at an address (POST), or lead to the list, with the address of ?url= in its field.

    Nothing is saved by GET: any page of the web could have a person's browser ask for an address.
    """
    if request.method != "POST":
        url = request.GET.get("url", "") or request.GET.get("text", "")
        return redirect(saved_address(**({"url": url[:2000]} if url else {})))
    subscriber = subscriber_of(request.user)
    url = request.POST.get("url", "").strip()
    tags = [tag for tag in request.POST.get("tags", "").split(",") if tag.strip()]
    page = PageToSave(url, title=request.POST.get("title", ""), tags=tags, note=request.POST.get("note", ""))
    try:
        outcome = save_page(subscriber, page, datetime.now(UTC))
    except BadUrl:
        messages.error(request, _("This is no address of a page."))
        return redirect(saved_address(url=url[:2000]))
    except (LimitReached, TooManyLabels) as error:
        messages.error(request, str(error))
        return redirect(saved_address())
    words = _("Saved. Its text comes in a moment.") if outcome.is_new else _("It was saved before.")
    messages.success(request, words)
    return HttpResponseRedirect(safe_next(request, saved_address()))


@require_POST
def save_one(request: HttpRequest, pk: int) -> HttpResponse:
    """Save an article of a feed: a copy of it that stays."""
    subscriber = subscriber_of(request.user)
    article = get_object_or_404(Article.objects.select_related("page", "saved"), pk=pk)
    try:
        outcome = save_article(subscriber, article, datetime.now(UTC), SavedPage.Way.ARTICLE)
    except BadUrl:
        messages.error(request, _("This article has no address, so it cannot be saved; a star keeps it."))
    except LimitReached as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Saved.") if outcome.is_new else _("It was saved before."))
    return HttpResponseRedirect(safe_next(request, saved_address()))


@require_POST
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a page from Saved, with its text and its highlights."""
    if remove_saved(subscriber_of(request.user), [pk]):
        messages.success(request, _("Removed from Saved."))
    return redirect(saved_address())


@require_POST
def again(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for a page again that could not be read."""
    if try_again(subscriber_of(request.user), [pk]):
        messages.success(request, _("Freshet asks for the page again."))
    return HttpResponseRedirect(safe_next(request, saved_address()))


@require_POST
def note(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep the note on a saved page."""
    text = storable(request.POST.get("note", ""), MAX_NOTE).strip()
    subscriber_of(request.user).saved_pages.filter(article=pk).update(note=text)
    return HttpResponseRedirect(safe_next(request, saved_address()))


@require_safe
def whole_page(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Return an article as a file, as ?as= says: with `warc` its whole page, as it was received."""
    article = get_object_or_404(Article.objects.only("pk", "title", "url"), pk=pk)
    subscriber = subscriber_of(request.user)
    return export_page(
        request, lambda form: article_rows([pk], subscriber, form), article.title or article.url
    )


@require_safe
def highlights(request: HttpRequest) -> HttpResponse:
    """Show all highlights of a person, by article, colour, tag and words."""
    rows = highlights_of(subscriber_of(request.user))
    chosen = HighlightFilter(request.GET, queryset=rows)
    page = page_of(request, chosen.qs if chosen.is_valid() else rows.none(), size=HIGHLIGHTS)
    every = Highlight.objects.filter(subscriber=subscriber_of(request.user))
    tags = sorted(
        {tag for tags in every.exclude(tags=[]).values_list("tags", flat=True)[:5000] for tag in tags}
    )
    context: dict[str, Any] = {
        "page": page,
        "colors": Highlight.Color.choices,
        "tags": tags[:200],
        "asked": request.GET,
        "query": request.GET.urlencode(),
    }
    return render(request, "saved/highlights.html", context)


@require_GET
def export(request: HttpRequest) -> HttpResponseBase:
    """Return the highlights as a file, those that the filters choose."""
    chosen = HighlightFilter(request.GET, queryset=highlights_of(subscriber_of(request.user)))
    try:
        return highlights_file(request.GET.get("as", "markdown"), chosen.qs)
    except ValidationError:
        return redirect("highlights")


@require_POST
def highlight(request: HttpRequest, pk: int) -> HttpResponse:
    """Highlight words of an article: those in `quote`, or each of the sentences in `sentence`."""
    subscriber = subscriber_of(request.user)
    rows = Article.objects.select_related("page").defer("search", "page__html")
    article = get_object_or_404(rows, pk=pk)
    quotes = [request.POST["quote"]] if request.POST.get("quote") else request.POST.getlist("sentence")[:200]
    color = request.POST.get("color", Highlight.Color.IMPORTANT)
    tags = request.POST.get("tags", "").split(",")
    around = (request.POST.get("before", "")[-AROUND:], request.POST.get("after", "")[:AROUND])
    try:
        for quote in quotes:
            text = request.POST.get("note", "")
            make_highlight(subscriber, article, quote, around=around, color=color, note=text, tags=tags)
    except (NoSuchQuote, LimitReached) as error:
        messages.error(request, str(error))
    return HttpResponseRedirect(_back(request, pk))


@require_POST
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Change colour, note and tags of a highlight, or remove it."""
    row = get_object_or_404(Highlight, pk=pk, subscriber=subscriber_of(request.user))
    if "remove" in request.POST:
        row.delete()
        messages.success(request, _("The highlight is removed."))
        return HttpResponseRedirect(_back(request, row.article_id))
    if request.POST.get("color") in Highlight.Color.values:
        row.color = request.POST["color"]
    row.note = storable(request.POST.get("note", row.note), MAX_NOTE).strip()
    if "tags" in request.POST:
        row.tags = cleaned_tags(request.POST["tags"].split(","))
    row.save()
    return HttpResponseRedirect(_back(request, row.article_id))


def _back(request: HttpRequest, article: int) -> str:
    """Return the page from which a highlight was made or changed."""
    return safe_next(request, reverse("read-article", args=[article]))
