"""Questions to a language model as pages show them, and the panel of an article."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from articles.modelled.asking import tasks_about
from articles.modelled.kinds import KINDS, other_languages, own_name, page_languages
from articles.modelled.models import ModelTask
from articles.models import Subscriber
from crawler.web.sentences import translated

RENEW_SECONDS = 2


@dataclass(frozen=True, slots=True)
class ShownTask:
    """A question with its heading, and why it failed. `renew_seconds` is 0 once nothing will change."""

    row: ModelTask
    heading: str
    failure: str
    renew_seconds: int


@dataclass(frozen=True, slots=True)
class ModelPanel:
    """An article's questions to the model, and the languages to choose from, of which one is `chosen`."""

    summaries: list[ShownTask]
    translations: list[ShownTask]
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
        page_languages=page_languages(),
        other_languages=other_languages(),
        chosen=(get_language() or settings.LANGUAGE_CODE).split("-")[0],
    )


def shown(row: ModelTask) -> ShownTask:
    """Return a question as pages show it."""
    kind = KINDS.get(row.kind)
    heading = str(kind.words) if kind else row.kind
    if row.language:
        heading = _("%(kind)s: %(language)s") % {"kind": heading, "language": own_name(row.language)}
    return ShownTask(row, heading, translated(row.failure), RENEW_SECONDS if row.is_open else 0)
