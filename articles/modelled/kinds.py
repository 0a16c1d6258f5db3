"""Kinds of questions to a model. Those with `compose` are about one article, and are made of it alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.utils.translation import gettext_lazy

from articles.modelled import prompts
from articles.modelled.prompts import Prompt
from crawler.text.words import Words


@dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of question: `compose` makes its prompt of title, text and the English name of a language.

    `has_sources` is true for answers from several articles, whose sentences name them.
    """

    name: str
    words: Words
    compose: Callable[[str, str, str], Prompt] | None = None
    needs_language: bool = False
    has_sources: bool = False


KINDS: Mapping[str, ModelKind] = {
    kind.name: kind
    for kind in (
        ModelKind("summary", gettext_lazy("Summary"), prompts.summary),
        ModelKind("translation", gettext_lazy("Translation"), prompts.translation, needs_language=True),
        ModelKind("answer", gettext_lazy("Answer"), has_sources=True),
        ModelKind("story", gettext_lazy("Summary of the story"), has_sources=True),
        ModelKind("brief", gettext_lazy("Morning brief"), has_sources=True),
        ModelKind("tags", gettext_lazy("Labels that fit")),
        ModelKind("selectors", gettext_lazy("Rules for the list of a page")),
    )
}
NAMES = tuple(KINDS)
_NAMED = {code: info for code, info in LANG_INFO.items() if "name_local" in info}


def english_name(code: str) -> str:
    """Return the English name of a language, "" for one that is not known."""
    return str(_NAMED[code]["name"]) if code in _NAMED else ""


def own_name(code: str) -> str:
    """Return the name of a language in that language, or the code where it is not known."""
    return str(_NAMED[code]["name_local"]) if code in _NAMED else code


def page_languages() -> list[tuple[str, str]]:
    """Return codes and names of the languages that pages have."""
    return list(settings.LANGUAGES)


def other_languages() -> list[tuple[str, str]]:
    """Return codes and names of all other languages that can be chosen, by name."""
    ours = dict(settings.LANGUAGES)
    others = [(code, own_name(code)) for code in _NAMED if code not in ours]
    return sorted(others, key=lambda pair: pair[1].casefold())
