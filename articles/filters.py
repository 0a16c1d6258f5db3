"""Filters of articles, kept in the URL so that every view of the list can be shared."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import ClassVar

import django_filters  # type: ignore[import-untyped]
from django import forms
from django.utils.translation import gettext_lazy

from articles.listing import languages
from articles.models import Article, ArticleQuerySet
from articles.operators import Operator
from crawler.web.filters import SEARCH_HELP, FlagFilter, HoursFilter, OfferedFilter, search_validator
from crawler.web.templatetags.freshet import language_name
from feeds.categories import subtree
from feeds.models import Category, Feed
from feeds.pages.filters import folder_choices

OPERATORS_HELP = (
    f"{SEARCH_HELP} Also has:audio, has:image, author:name, site:host, lang:de, after:2026-01-31, before:."
)
DAY = forms.DateInput(attrs={"type": "date"})


class ArticleFilter(django_filters.FilterSet):  # type: ignore[misc]
    """Filters of articles."""

    q = django_filters.CharFilter(
        method="by_words",
        label=gettext_lazy("Search"),
        help_text=OPERATORS_HELP,
        validators=[search_validator],
    )
    feed = django_filters.ModelChoiceFilter(queryset=Feed.objects.defer("fingerprints"))
    category = OfferedFilter(
        method="by_category",
        offers=folder_choices,
        help_text="The article's own category; where it is a category of feeds by its id: as feed_category.",
    )
    feed_category = django_filters.NumberFilter(method="in_folder", help_text="Category of the feed.")
    language = OfferedFilter(offers=lambda: [(code, language_name(code)) for code in languages()])
    since = django_filters.DateFilter(
        method="from_day",
        label=gettext_lazy("From"),
        widget=DAY,
        help_text="Published on this day or later, UTC.",
    )
    until = django_filters.DateFilter(
        method="to_day",
        label=gettext_lazy("To"),
        widget=DAY,
        help_text="Published on this day or before, UTC.",
    )
    published_after = django_filters.IsoDateTimeFilter("published", "gte")
    published_before = django_filters.IsoDateTimeFilter("published", "lt")
    fetched = HoursFilter("fetched", label=gettext_lazy("Retrieved within hours"))
    has = django_filters.CharFilter(
        method="by_part", max_length=20, help_text="audio, video, image, text, comments or place."
    )
    author = django_filters.CharFilter("author", "icontains", max_length=200, help_text="Part of a name.")
    text = FlagFilter(
        method="by_text",
        label=gettext_lazy("with text"),
        help_text="Whether there is any text.",
    )
    page_failure = django_filters.CharFilter(
        "page__failure", max_length=40, help_text="What the download of its page failed by."
    )
    keyword = django_filters.CharFilter(
        method="by_keyword",
        label=gettext_lazy("Keyword"),
        max_length=64,
        help_text="One of those found in its text.",
    )
    topic = django_filters.CharFilter(
        "enrichment__category",
        label=gettext_lazy("About"),
        max_length=200,
        help_text="Category that was found for it.",
    )

    class Meta:
        model = Article
        fields: ClassVar[list[str]] = []

    def by_words(self, articles: ArticleQuerySet, name: str, value: str) -> ArticleQuerySet:
        return articles.search(value, self.form.cleaned_data.get("language", ""))

    def by_category(self, articles: ArticleQuerySet, name: str, value: str) -> ArticleQuerySet:
        """Filter by the id of a category of feeds if there is one, else by the article's own category."""
        is_key = value.isascii() and value.isdecimal() and len(value) < 19
        if is_key and Category.objects.filter(pk=int(value)).exists():
            return self.in_folder(articles, name, int(value))
        return articles.filter(category=value)

    def in_folder(self, articles: ArticleQuerySet, name: str, value: int) -> ArticleQuerySet:
        return articles.filter(feed__category__in=subtree(int(value)))

    def from_day(self, articles: ArticleQuerySet, name: str, value: date) -> ArticleQuerySet:
        return articles.filter(published__gte=datetime.combine(value, time.min, UTC))

    def to_day(self, articles: ArticleQuerySet, name: str, value: date) -> ArticleQuerySet:
        return articles.filter(published__lte=datetime.combine(value, time.max, UTC))

    def by_text(self, articles: ArticleQuerySet, name: str, value: bool) -> ArticleQuerySet:
        return articles.filter(text_length__gt=0) if value else articles.filter(text_length=0)

    def by_part(self, articles: ArticleQuerySet, name: str, value: str) -> ArticleQuerySet:
        return articles.filter(Operator("has", value).condition)

    def by_keyword(self, articles: ArticleQuerySet, name: str, value: str) -> ArticleQuerySet:
        return articles.filter(enrichment__terms__contains=[value.casefold()])
