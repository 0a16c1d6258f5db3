"""Pages of edits: what changed lately, and the versions of an article word by word."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from articles.edits.history import proves, versions_of
from articles.edits.listing import edits, edits_with_articles, sources
from articles.edits.models import ArticleVersion
from articles.edits.wording import edit_in_words, marked_lines, marked_words
from articles.models import Article
from articles.personal.following import subscriber_of
from articles.reader.lists import source_of
from crawler.web.pagination import page_of

EDITS = 40
CHIPS = {
    "": gettext_lazy("All edits"),
    "headline": gettext_lazy("Headline"),
    "number": gettext_lazy("A number"),
    "name": gettext_lazy("A name"),
    "gone": gettext_lazy("Taken back"),
}


@dataclass(frozen=True, slots=True)
class EditLine:
    """A line of the list of edits: the version, its source, what was edited, and the day."""

    version: ArticleVersion
    source: str
    words: str
    day: date


@require_safe
def edited(request: HttpRequest) -> HttpResponse:
    """Show what was edited lately in the feeds that a person follows, and how often sources edit."""
    subscriber = subscriber_of(request.user)
    kind, everywhere = request.GET.get("kind", ""), "all" in request.GET
    rows = edits_with_articles(edits(None if everywhere else subscriber, kind))
    if (feed := request.GET.get("feed", "")).isdecimal() and len(feed) < 19:
        rows = rows.filter(article__feed=int(feed))
    page = page_of(request, rows, size=EDITS)
    names = dict(subscriber.subscriptions.exclude(title="").values_list("feed_id", "title"))
    lines = [
        EditLine(row, source_of(row.article, names), edit_in_words(row), timezone.localtime(row.seen).date())
        for row in page
    ]
    context: dict[str, Any] = {
        "page": page,
        "lines": lines,
        "chips": CHIPS,
        "kind": kind if kind in CHIPS else "",
        "everywhere": everywhere,
        "sources": sources(datetime.now(UTC)) if "sources" in request.GET else None,
    }
    return render(request, "edits/edits.html", context)


@require_safe
def versions(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the versions of an article, and two of them (?a=1&b=3) word by word."""
    article = get_object_or_404(Article.objects.select_related("feed").defer("search"), pk=pk)
    stored = versions_of(article.pk)
    shown_versions = [version for version in stored if "gone" not in version.row.kinds] or stored
    numbers = {version.row.number: version for version in stored}
    new = numbers.get(_number(request.GET.get("b", "")), shown_versions[-1] if shown_versions else None)
    earlier = [version for version in shown_versions if new and version.row.number < new.row.number]
    old = numbers.get(_number(request.GET.get("a", "")), earlier[-1] if earlier else new)
    context: dict[str, Any] = {
        "article": article,
        "source_name": source_of(article, {}),
        "versions": [(version.row, edit_in_words(version.row)) for version in reversed(stored)],
        "old": old,
        "new": new,
        "title": marked_words(old.row.title, new.row.title) if old and new else [],
        "lines": marked_lines(old.text, new.text) if old and new else [],
        "is_proved": proves(stored),
    }
    return render(request, "edits/versions.html", context)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else 0
