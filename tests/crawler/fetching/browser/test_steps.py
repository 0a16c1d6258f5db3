"""Steps on a page: a list that people write, checked before a browser sees it."""

import pytest

from crawler.fetching.browser.steps import MAX_STEPS, Step, checked_steps


def test_it_reads_each_kind_of_step() -> None:
    steps = checked_steps(
        [
            {"do": "click", "at": " #more "},
            {"do": "type", "at": "input", "text": "news"},
            {"do": "wait", "seconds": 2},
            {"do": "wait-for", "at": ".done"},
            {"do": "scroll"},
        ]
    )
    assert steps == (
        Step("click", at="#more"),
        Step("type", at="input", text="news"),
        Step("wait", seconds=2.0),
        Step("wait-for", at=".done"),
        Step("scroll"),
    )


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("click", "Steps must be a list"),
        ([{"do": "scroll"}] * (MAX_STEPS + 1), "21 steps; 20 are allowed"),
        (["scroll"], "Step 1 must be an object"),
        ([{"do": "scroll"}, {"do": "run"}], "Step 2 must have a"),
        ([{"do": ["click"]}], "Step 1 must have a"),
        ([{"do": "click"}], 'lacks "at"'),
        ([{"do": "click", "at": " "}], "CSS selector"),
        ([{"do": "click", "at": "a" * 501}], "at most 500"),
        ([{"do": "click", "at": 5}], "must be a text"),
        ([{"do": "scroll", "at": "a"}], 'must not have "at"'),
        ([{"do": "wait", "seconds": float("nan")}], "from 0 to 20"),
        ([{"do": "wait", "seconds": True}], "from 0 to 20"),
        ([{"do": "wait", "seconds": 21}], "from 0 to 20"),
        ([{"do": "wait", "seconds": "1"}], "from 0 to 20"),
    ],
)
def test_it_says_what_is_wrong(value: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        checked_steps(value)
