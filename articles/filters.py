"""The article list's filters and orders, read from the address so that every view of it can be shared."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from django import forms
from django.conf.locale import LANG_INFO
from django.db.models import Q, QuerySet

from articles.listing import by_relevance, languages
from articles.models import Article
from feeds.categories import all_paths, subtree

ANY = ("", "any")


class ArticleFilter(forms.Form):
    """GET parameters of the article list. What is not valid is left out, and said."""

    q = forms.CharField(required=False, label="Search", max_length=300)
    feed = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    category = forms.ChoiceField(required=False)
    language = forms.ChoiceField(required=False)
    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="To", widget=forms.DateInput(attrs={"type": "date"}))
    fetched = forms.IntegerField(required=False, min_value=1, max_value=100_000)
    text = forms.BooleanField(required=False, label="with text")
    page_failure = forms.CharField(required=False, max_length=40)
    keyword = forms.CharField(required=False, max_length=64)
    topic = forms.CharField(required=False, max_length=200)
    sort = forms.ChoiceField(
        required=False, choices=[("newest", "newest first"), ("relevance", "best match first")]
    )

    def __init__(self, data: object, now: datetime) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.now = now
        folders = sorted((path, key) for key, path in all_paths().items())
        self._choose("category", [(str(key), " / ".join(path)) for path, key in folders])
        self._choose("language", [(code, language_name(code)) for code in languages()])

    def articles(self) -> QuerySet[Article]:
        """The articles that pass, in the order asked for."""
        self.is_valid()
        found = Article.objects.filter(*self._conditions())
        words = self.cleaned_data.get("q", "").strip()
        if not words:
            return found.newest_first()
        found = found.search(words, self.cleaned_data.get("language", ""))
        relevant = self.cleaned_data.get("sort") == "relevance"
        return by_relevance(found, words) if relevant else found.newest_first()

    def _conditions(self) -> list[Q]:
        given = {name: value for name, value in self.cleaned_data.items() if value}
        same = {
            "feed": "feed", "language": "language", "page_failure": "page__failure",
            "topic": "enrichment__category",
        }  # fmt: skip
        conditions = [Q(**{column: given[name]}) for name, column in same.items() if name in given]
        if "keyword" in given:
            conditions.append(Q(enrichment__terms__contains=[given["keyword"].casefold()]))
        if "category" in given:
            conditions.append(Q(feed__category__in=subtree(int(given["category"]))))
        if "since" in given:
            conditions.append(Q(published__gte=datetime.combine(given["since"], time.min, UTC)))
        if "until" in given:
            day_after = datetime.combine(given["until"], time.min, UTC) + timedelta(days=1)
            conditions.append(Q(published__lt=day_after))
        if "fetched" in given:
            conditions.append(Q(fetched__gte=self.now - timedelta(hours=given["fetched"])))
        if "text" in given:
            conditions.append(Q(text_length__gt=0))
        return conditions

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name].choices = [ANY, *choices]  # type: ignore[attr-defined]


def language_name(code: str) -> str:
    """A language in English, as far as known; else its code."""
    known = LANG_INFO.get(code) or LANG_INFO.get(code.split("-", maxsplit=1)[0]) or {}
    return f"{known['name']} ({code})" if "name" in known else code
