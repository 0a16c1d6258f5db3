"""Templates of messages cannot compute anything, whatever is written in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.notices.wording import filled, has_any, unknown_places

VALUES = {"title": "A bridge", "source": "Courier", "text": "It is closed. $source"}


def test_places_are_filled_once() -> None:
    assert filled("$title in ${source}: $text", VALUES, 300) == "A bridge in Courier: It is closed. $source"
    assert filled("$$5 for $nothing", VALUES, 300) == "$5 for $nothing"
    assert unknown_places("$title $nothing $$ ${odd}") == ["nothing", "odd"]


def test_a_template_that_would_repeat_for_ever_is_text() -> None:
    loop = "{% for i in range(1000000000) %}x{% endfor %}{title:>1000000000}%(title)1000000000s"
    assert filled(loop, VALUES, 300) == loop


@given(st.text(max_size=400), st.integers(1, 300))
def test_no_text_is_longer_than_allowed(template: str, limit: int) -> None:
    assert len(filled(template, VALUES, limit)) <= limit


def test_words_are_whole_words_in_any_case() -> None:
    assert has_any("The FERRY leaves", "train, ferry")
    assert not has_any("The ferryman leaves", "ferry")
    assert has_any("Jürgen (alt)", "jürgen")
    assert has_any("Here\u02bcs why: п\u02bcять", "here's why") and has_any("п\u02bcять", "п'ять")
    assert not has_any("nothing", " , ,")
