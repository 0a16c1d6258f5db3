"""Questions to a language model as pages show them, and the panel of an article."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from django.conf import settings
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from articles.modelled.asking import tasks_about
from articles.modelled.checking import TAKEN_OUT, CheckedAnswer, CheckedSentence
from articles.modelled.kinds import KINDS, other_languages, own_name, page_languages
from articles.modelled.models import CHECKED, ModelTask
from articles.modelled.proposals import proposed_labels, proposed_rules
from articles.modelled.sources import keys_in
from articles.models import Article, Mark, Subscriber
from articles.personal.labels import label_named, labels_of
from crawler.web.sentences import translated

RENEW_SECONDS = 2
_SHOWN = ("title", "text", "url", "identity", "published", "language", "feed__title", "feed__url")


@dataclass(frozen=True, slots=True)
class ShownSource:
    """An article that an answer stands on; `article` is None if the person can no longer read it."""

    number: int
    article: Article | None


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence of an answer with its sources, and whether the model named another one."""

    text: str
    sources: list[ShownSource]
    is_corrected: bool


@dataclass(frozen=True, slots=True)
class SourcedAnswer:
    """A checked answer, the articles that the model got, and the number of quotations taken out."""

    paragraphs: list[list[ShownSentence]]
    sources: list[ShownSource]
    taken_out: int


@dataclass(frozen=True, slots=True)
class ShownTask:
    """A question with its heading, and why it failed. `renew_seconds` is 0 once nothing will change."""

    row: ModelTask
    heading: str
    failure: str
    renew_seconds: int
    answer: SourcedAnswer | None = None
    labels: Sequence[str] = ()
    """Labels that are proposed."""
    again: str = ""
    """Address where the same is asked again."""
    rules: Sequence[tuple[str, str]] = ()
    """Rules that are proposed, by part."""
    rules_address: str = ""
    """Address of the form for rules, filled in with them."""


@dataclass(frozen=True, slots=True)
class ModelPanel:
    """An article's questions to the model, and the languages to choose from, of which one is `chosen`."""

    summaries: list[ShownTask]
    translations: list[ShownTask]
    labels: list[ShownTask]
    page_languages: list[tuple[str, str]]
    other_languages: list[tuple[str, str]]
    chosen: str


def panel(subscriber: Subscriber, article: int) -> ModelPanel | None:
    """Return the panel of an article, None where there is no model; one query."""
    if not settings.MODEL_URL or settings.DEMO:
        return None
    every = [shown(row) for row in tasks_about(subscriber, article)]
    return ModelPanel(
        summaries=[each for each in every if each.row.kind == "summary"],
        translations=[each for each in every if each.row.kind == "translation"],
        labels=[each for each in every if each.row.kind == "tags"],
        page_languages=page_languages(),
        other_languages=other_languages(),
        chosen=(get_language() or settings.LANGUAGE_CODE).split("-")[0],
    )


def shown(row: ModelTask) -> ShownTask:
    """Return a question as pages show it."""
    kind = KINDS.get(row.kind)
    heading = str(kind.words) if kind else row.kind
    if row.kind == "answer":
        heading = str(row.subject.get("question", heading))
    elif row.language:
        heading = _("%(kind)s: %(language)s") % {"kind": heading, "language": own_name(row.language)}
    rules = proposed_rules(row.answer) if row.kind == "selectors" else {}
    return ShownTask(
        row,
        heading,
        translated(row.failure),
        RENEW_SECONDS if row.is_open else 0,
        sourced(row),
        _labels(row),
        _again(row),
        list(rules.items()),
        f"{reverse('add-rules')}?{urlencode({'url': row.subject.get('url', ''), **rules})}" if rules else "",
    )


def sourced(row: ModelTask) -> SourcedAnswer | None:
    """Return the checked answer of a question to several articles, None for others and without an answer."""
    sentences = checked_sentences(row)
    if not sentences:
        return None
    keys = keys_in(row.subject)
    articles = Article.objects.filter(pk__in=keys).select_related("feed").only(*_SHOWN).in_bulk()
    sources = [ShownSource(number, articles.get(key)) for number, key in enumerate(keys, 1)]
    paragraphs: list[list[ShownSentence]] = []
    for sentence in sentences:
        if sentence.begins or not paragraphs:
            paragraphs.append([])
        cited_sources = [sources[number - 1] for number in sentence.sources]
        paragraphs[-1].append(ShownSentence(sentence.text, cited_sources, sentence.is_corrected))
    checked = msgspec.convert(row.subject[CHECKED], CheckedAnswer)
    return SourcedAnswer(paragraphs, sources, checked.taken_out)


def checked_sentences(row: ModelTask) -> list[CheckedSentence]:
    """Return the sentences of a checked answer, with words in place of quotations that were taken out."""
    if row.state != ModelTask.State.DONE or CHECKED not in row.subject:
        return []
    instead = "[" + _("a quotation that is not in the article was taken out") + "]"
    checked = msgspec.convert(row.subject[CHECKED], CheckedAnswer)
    return [
        msgspec.structs.replace(sentence, text=sentence.text.replace(TAKEN_OUT, instead))
        for sentence in checked.sentences
    ]


def address_of(row: ModelTask) -> str:
    """Return the address of the page on which a question stands."""
    story = row.subject.get("story")
    if row.article_id is not None:
        return reverse("read-article", args=[row.article_id])
    return reverse("story", args=[story]) if isinstance(story, int) else reverse("ask-answer", args=[row.pk])


def _labels(row: ModelTask) -> list[str]:
    if row.kind != "tags" or row.state != ModelTask.State.DONE:
        return []
    marks = Mark.objects.filter(subscriber=row.subscriber_id, article=row.article_id)
    labels = marks.values_list("labels", flat=True).first() or []
    return [label_named(label) for label in proposed_labels(row.answer, labels_of(row.subscriber), labels)]


def _again(row: ModelTask) -> str:
    if row.article_id is not None:
        return reverse("model-ask", args=[row.article_id, row.kind])
    story = row.subject.get("story")
    if isinstance(story, int):
        return reverse("story-summary", args=[story])
    return reverse({"brief": "morning-brief", "selectors": "rules-propose"}.get(row.kind, "ask"))
