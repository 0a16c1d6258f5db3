"""Questions to several articles: an answer from the archive, a story's summary, and the morning brief."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from articles.enrichment.models import Story
from articles.modelled import prompts
from articles.modelled.asking import CannotAskError, ask
from articles.modelled.kinds import english_name
from articles.modelled.models import ModelTask
from articles.modelled.sources import (
    articles_of,
    beginnings_of,
    found_by,
    of_day,
    of_story,
    passages_of,
    searched,
    sentences_of,
)
from articles.models import Article, Subscriber


def ask_archive(subscriber: Subscriber, question: str, now: datetime) -> ModelTask:
    """Ask a question that articles found by its words may answer. Raises CannotAskError, LimitReached."""
    question = searched(question)
    if not question:
        raise CannotAskError(_("Write a question."))
    articles = articles_of(found_by(question))
    if not articles:
        raise CannotAskError(_("No article here has the words of your question. Try other words."))
    prompt = prompts.answer(question, passages_of(articles, question))
    return ask(subscriber, "answer", prompt, now, subject={"question": question, **_named(articles)})


def ask_about_story(subscriber: Subscriber, story: Story, now: datetime) -> ModelTask:
    """Ask what the articles of a story tell. Raises CannotAskError, LimitReached."""
    articles = articles_of(of_story(story))
    if len(articles) < 2:
        raise CannotAskError(_("Fewer than two articles of this story have a text here."))
    prompt = prompts.story(beginnings_of(articles), _page_language())
    return ask(subscriber, "story", prompt, now, subject={"story": story.pk, **_named(articles)})


def ask_brief(subscriber: Subscriber, now: datetime) -> ModelTask:
    """Ask for a brief of the last day that a person follows. Raises CannotAskError, LimitReached."""
    articles = articles_of(of_day(subscriber, now))
    if not articles:
        raise CannotAskError(_("What you follow has brought nothing in the last 24 hours."))
    prompt = prompts.brief(sentences_of(articles), _page_language())
    return ask(subscriber, "brief", prompt, now, subject=_named(articles))


def former_questions(subscriber: Subscriber, limit: int) -> list[ModelTask]:
    """Return a person's newest questions to the archive and morning briefs."""
    rows = ModelTask.objects.filter(subscriber=subscriber, kind__in=["answer", "brief"])
    rows = rows.exclude(state=ModelTask.State.CANCELLED).defer("prompt", "answer")
    return list(rows.order_by("-created", "-id")[:limit])


def newest_about_story(subscriber: Subscriber, story: int) -> ModelTask | None:
    """Return a person's newest question about a story, None if there is none or it was cancelled."""
    rows = ModelTask.objects.filter(subscriber=subscriber, kind="story", subject__story=story)
    row = rows.defer("prompt").order_by("-created", "-id").first()
    return row if row is not None and row.state != ModelTask.State.CANCELLED else None


def _named(articles: Sequence[Article]) -> dict[str, object]:
    return {"articles": [article.pk for article in articles]}


def _page_language() -> str:
    return english_name(get_language() or "") or "English"
