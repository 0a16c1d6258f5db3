"""Pages about enrichment: progress, all stories, one story."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Max, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from articles.enrichment.figures import categories, figures, languages
from articles.enrichment.firsts import additions_of, delays, how_often_first
from articles.enrichment.models import Enrichment, Story
from articles.enrichment.stories import allow, take_apart, take_out
from articles.exporting.answers import export_page
from articles.exporting.querying import article_rows, keys_in
from articles.modelled.questions import newest_about_story
from articles.modelled.wording import shown
from articles.personal.following import subscriber_of
from crawler.web.pages import render_list
from crawler.web.pagination import page_of
from crawler.web.permissions import needs
from crawler.web.roles import OPERATOR

SHOWN_FAILURES = 50


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Show the progress of enrichment, categories, languages and failed articles."""
    failed = Enrichment.objects.filter(state=Enrichment.State.FAILED).select_related("article__feed")
    large_columns = (
        "article__text",
        "article__content",
        "article__search",
        "article__feed__fingerprints",
    )
    context = {
        "figures": figures(),
        "categories": categories(),
        "languages": languages(),
        "failed": failed.defer(*large_columns).order_by("-article_id")[:SHOWN_FAILURES],
    }
    return render(request, "enrichment/overview.html", context)


@require_safe
def story_list(request: HttpRequest) -> HttpResponse:
    """Show all stories, those with the newest articles first."""
    sites = Count("members__article__feed__host", distinct=True)  # two feeds of one site are one source
    rows = Story.objects.annotate(size=sites, newest=Max("members__article__published")).filter(size__gt=1)
    rows = rows.prefetch_related(Prefetch("members", told())).order_by("-newest", "-pk")
    context = {"page": page_of(request, rows)}
    return render_list(request, "enrichment/stories.html", "enrichment/_stories.html", context)


@require_safe
def story(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one story: every article with its feed and the reason it belongs there."""
    row = get_object_or_404(Story, pk=pk)
    members = list(told().filter(story=row))
    task = newest_about_story(subscriber_of(request.user), pk) if settings.MODEL_URL else None
    later = delays([member.article.published for member in members])
    context = {
        "story": row,
        "members": members,
        "summary": shown(task) if task else None,
        "lines": list(
            zip(members, [round(delay / 60) for delay in later], additions_of(members), strict=True)
        ),
    }
    return render(request, "enrichment/story.html", context)


@require_safe
def firsts(request: HttpRequest) -> HttpResponse:
    """Show which feeds tell stories first most often."""
    return render(request, "enrichment/firsts.html", {"rows": how_often_first(datetime.now(UTC))})


@require_safe
def export_story(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Return the articles of a story as a file, in the format that `as` names."""
    members = told().filter(story=get_object_or_404(Story, pk=pk))
    subscriber = subscriber_of(request.user)
    title = str(first.article) if (first := members.first()) else _("Story")
    return export_page(
        request, lambda form: article_rows(keys_in(members, "article_id"), subscriber, form), title
    )


@needs(OPERATOR)
@require_POST
def take_story_apart(request: HttpRequest, pk: int) -> HttpResponse:
    """Take all articles out of a story."""
    count = take_apart(get_object_or_404(Story, pk=pk))
    messages.success(
        request,
        ngettext(
            "%(count)d article stands alone now; it was not deleted.",
            "%(count)d articles stand alone now; none was deleted.",
            count,
        )
        % {"count": count},
    )
    return redirect("stories")


@needs(OPERATOR)
@require_POST
def leave_story(request: HttpRequest, pk: int) -> HttpResponse:
    """Take one article out of its story."""
    row = get_object_or_404(Enrichment.objects.select_related("article"), pk=pk)
    take_out(row)
    messages.success(request, _("“%(article)s” stands alone from now on.") % {"article": row.article})
    return redirect(row.article.get_absolute_url())


@needs(OPERATOR)
@require_POST
def join_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Allow an article that was taken out to join a story again."""
    row = get_object_or_404(Enrichment.objects.select_related("article"), pk=pk)
    allow(row)
    messages.success(
        request, _("“%(article)s” may join a story again, within a minute.") % {"article": row.article}
    )
    return redirect(row.article.get_absolute_url())


def told() -> QuerySet[Enrichment]:
    """Return the members of stories with the columns that lists show, first published first."""
    columns: Any = (
        "story", "reason", "similarity", "article__author", "article__title", "article__identity",
        "article__published",
        "article__language", "article__feed__title", "article__feed__url",
    )  # fmt: skip
    rows = Enrichment.objects.filter(story__isnull=False).select_related("article__feed").only(*columns)
    return rows.order_by("article__published", "pk")
