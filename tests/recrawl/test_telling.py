"""When a new watch tells: what is offered for each type of value, and what a choice sets."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from crawler.notices.templatetags.notices import plain_number
from recrawl.comparing.values import value_in
from recrawl.pages.forms import WatchForm
from recrawl.pages.watch_parts import telling_choices


@pytest.mark.parametrize(
    ("text", "options", "choices"),
    [
        ("239 €", {"has_stock": True}, ["below", "falls", "available", "any"]),
        ("17", {}, ["below", "above", "falls", "any"]),
        ("Closed in winter", {}, ["any", "words", "added"]),
        ("Bulb", {"is_list": True}, ["added", "any", "words"]),
        ("", {"is_file": True}, ["any", "added", "removed", "words"]),
    ],
)
def test_what_is_offered_follows_the_type(text: str, options: dict[str, bool], choices: list[str]) -> None:
    wanted = {"is_list": False, "has_stock": False} | options
    assert telling_choices(value_in([text]) if text else None, **wanted) == choices


def form(**fields: str) -> WatchForm:
    data = QueryDict(mutable=True)
    data.update({"url": "https://a.example/plan", "kind": "pages"} | fields)
    return WatchForm(data)


def test_words_become_patterns_in_any_case() -> None:
    made = form(when="words", words="strike, C++ (late)")
    assert made.is_valid(), made.errors
    assert made.cleaned_data["trigger_patterns"] == ["(?i)strike", r"(?i)C\+\+\ \(late\)"]
    assert not made.wish.is_wish
    assert "words" in form(when="words", words=" , ").errors
    assert form(when="removed").is_valid()


def test_a_number_stands_in_its_field_as_people_write_it() -> None:
    assert [plain_number(value) for value in (230.0, 229.5, None, "2x")] == ["230", "229.5", "", "2x"]
