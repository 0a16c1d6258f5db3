"""Articles from which a model answers: found by the words of a question, in a story, or of a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.utils.translation import get_language

from articles.enrichment.models import Enrichment, Story
from articles.enrichment.words import terms_of, words
from articles.interest.log import hidden_articles
from articles.interest.scoring import ranked
from articles.listing import by_relevance, once_a_page
from articles.modelled.passages import first_sentences, passage
from articles.modelled.prompts import QuotedArticle
from articles.models import Article, Subscriber
from articles.personal.selection import followed_articles, once_a_story
from articles.search import wanted_stems
from crawler.text.search import MAX_SEARCH_CHARACTERS

MAX_FOUND = 8
"""Articles that an answer is made from."""
PASSAGE_CHARACTERS = 2_500
MAX_QUESTION_WORDS = 12
MAX_OF_STORY = 10
MAX_IN_BRIEF = 30
BRIEF_SENTENCES, BRIEF_CHARACTERS = 2, 500
BRIEF_TIME = timedelta(hours=24)
_CANDIDATES = 24
"""Articles that are looked at for MAX_FOUND on different pages."""


def question_words(question: str) -> list[str]:
    """Return the words of a question by which articles are found: no function words, and numbers."""
    language = get_language() or ""
    every = words(question, language)
    telling = set(terms_of(every, language)) | {word for word in every if word.isdecimal() and len(word) > 1}
    return [word for word in dict.fromkeys(word.removesuffix("'s") for word in every) if word in telling][
        :MAX_QUESTION_WORDS
    ]


def found_by(question: str) -> list[int]:
    """Return the keys of articles with all words of a question, then of those with some, the best first."""
    terms = question_words(question)
    if not terms:
        return []
    keys = _matches(" ".join(terms))
    if len(keys) < MAX_FOUND and len(terms) > 1:
        keys += _matches(" or ".join(terms))
    return once_a_page(list(dict.fromkeys(keys)))[:MAX_FOUND]


def passages_of(articles: Sequence[Article], question: str) -> list[QuotedArticle]:
    """Return the part of each article around the words of a question."""
    stems = wanted_stems(" or ".join(question_words(question)))
    return [_quoted(article, passage(article.text, stems, PASSAGE_CHARACTERS)) for article in articles]


def of_story(story: Story) -> list[int]:
    """Return the keys of a story's articles, the first published first."""
    rows = Enrichment.objects.filter(story=story, article__in=Article.objects.exclude(text=""))
    return list(rows.order_by("article__published", "pk").values_list("pk", flat=True)[:MAX_OF_STORY])


def beginnings_of(articles: Sequence[Article]) -> list[QuotedArticle]:
    """Return the beginning of each article."""
    return [_quoted(article, passage(article.text, [], PASSAGE_CHARACTERS)) for article in articles]


def of_day(subscriber: Subscriber, now: datetime) -> list[int]:
    """Return the keys of a day's articles that a person follows: stories first, then what interests most."""
    recent = followed_articles(subscriber).filter(published__gt=now - BRIEF_TIME, published__lte=now)
    recent = once_a_story(recent.exclude(pk__in=hidden_articles(subscriber)), subscriber)
    keys = [placed.article_id for placed in ranked(subscriber, recent, 4 * MAX_IN_BRIEF)]
    keys_in_stories = set(
        Enrichment.objects.filter(pk__in=keys, story__isnull=False).values_list("pk", flat=True)
    )
    # The sort is stable: within both parts the order is that of interest.
    return sorted(once_a_page(keys), key=lambda key: key not in keys_in_stories)[:MAX_IN_BRIEF]


def sentences_of(articles: Sequence[Article]) -> list[QuotedArticle]:
    """Return the first sentences of each article."""
    return [
        _quoted(article, first_sentences(article.text, BRIEF_SENTENCES, BRIEF_CHARACTERS))
        for article in articles
    ]


def articles_of(keys: Sequence[int]) -> list[Article]:
    """Return articles with their feeds and texts in the order of their keys."""
    rows = Article.objects.filter(pk__in=keys).select_related("feed")
    by_key = rows.only(
        "title", "text", "url", "identity", "published", "language", "feed__title", "feed__url"
    )
    articles = by_key.in_bulk()
    return [articles[key] for key in keys if key in articles]


def keys_in(subject: Mapping[str, object]) -> list[int]:
    """Return the keys of the articles that a question names, in the order of their numbers."""
    keys = subject.get("articles")
    return [key for key in keys if isinstance(key, int)] if isinstance(keys, list) else []


def texts_of(subject: Mapping[str, object]) -> list[str]:
    """Return the titles and texts of the articles that a question names, "" for those deleted meanwhile."""
    keys = keys_in(subject)
    texts = {
        key: f"{title}\n{text}"
        for key, title, text in Article.objects.filter(pk__in=keys).values_list("pk", "title", "text")
    }
    return [texts.get(key, "") for key in keys]


def searched(question: str) -> str:
    """Return a question without needless blanks, and no longer than a search may be."""
    return " ".join(question.split())[:MAX_SEARCH_CHARACTERS]


def _matches(query: str) -> list[int]:
    rows = by_relevance(Article.objects.search(query).exclude(text=""), query)
    return list(rows.values_list("pk", flat=True)[:_CANDIDATES])


def _quoted(article: Article, text: str) -> QuotedArticle:
    return QuotedArticle(str(article), f"{article.feed}, {article.published:%Y-%m-%d}", text)
