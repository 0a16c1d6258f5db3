"""Keywords, summaries and categories."""

import random

import pytest

from articles.enrichment.categories import MIN_EXAMPLES, Categories
from articles.enrichment.keywords import MAX_KEYWORDS, frequencies, keywords
from articles.enrichment.summaries import summary

FIELDS = {
    "Sport": ["football", "match", "goal", "team", "player", "league", "coach", "stadium"],
    "Code": ["python", "compiler", "release", "bug", "library", "function", "thread", "memory"],
    "Food": ["recipe", "oven", "garlic", "bake", "flour", "butter", "kitchen", "dinner"],
}


def test_rare_terms_weigh_more_than_common_ones():
    found = dict(keywords({"common": 3.0, "rare": 3.0}, {"common": 900, "rare": 2}, 1000))
    assert found["rare"] > found["common"]
    assert sum(weight**2 for weight in found.values()) == pytest.approx(1, abs=0.001)


def test_terms_of_the_title_count_threefold():
    assert frequencies(["rust"], ["rust", "go"]) == {"rust": 4.0, "go": 1}


def test_keywords_are_few_and_in_one_order():
    found = keywords({f"term{n}": 1.0 for n in range(50)}, {}, 10)
    assert len(found) == MAX_KEYWORDS
    assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
    assert keywords({}, {}, 0) == []


def test_a_summary_is_the_first_three_sentences_that_say_something():
    lines = [
        "The Title",
        "By Ann",
        "It rained.",
        "- It poured.",
        "http://x.example/",
        "The hills are wet.",
        "More.",
    ]
    assert summary([*lines, "More."], "The title") == "It rained. It poured. The hills are wet."
    assert summary([], "x") == ""


def test_a_summary_has_an_end():
    assert len(summary(["long " * 400 + "."])) <= 700


def lesson(name, dice):
    return " ".join(dice.choice([*FIELDS[name], "the", "new", "today", "with"]) for _ in range(60))


def test_categories_are_learned_piece_by_piece_and_kept():
    dice, known = random.Random(2), Categories()
    assert known.guess(["anything"]) == [("", 0.0)]
    for _ in range(MIN_EXAMPLES):
        known.learn([lesson(name, dice) for name in FIELDS], list(FIELDS))
        known = Categories.unpacked(known.classes, known.examples, known.packed())
    assert known.examples == [MIN_EXAMPLES] * 3
    guessed = known.guess([lesson(name, dice) for name in FIELDS])
    assert [name for name, _ in guessed] == list(FIELDS)
    assert known.guess(["zz qq ww"])[0][0] == ""


def test_a_category_with_few_examples_is_not_guessed():
    dice, known = random.Random(2), Categories()
    known.learn([lesson("Sport", dice)] * 20 + [lesson("Code", dice)] * 20, ["Sport"] * 20 + ["Code"] * 20)
    known.learn([lesson("Food", dice)], ["Food"])
    assert known.guess([lesson("Food", dice)])[0][0] != "Food"
