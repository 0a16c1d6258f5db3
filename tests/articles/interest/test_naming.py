"""Names of features, and the reasons that are made of them."""

from __future__ import annotations

import pytest

from articles.interest.features import author_name
from articles.interest.naming import Label, labels, reason_of


@pytest.mark.parametrize(
    ("feature", "name"),
    [
        ("keyword:ferry", "ferry"),
        ("author:</r biólogos>", "r biólogos"),
        ("author:jane <jane@x.example>", "jane"),
        ("author:&lt;b&gt;ann&lt;/b&gt;", "ann"),
        ("category:<i>news</i>", "news"),
        ("keyword:<>", "<>"),
    ],
)
def test_names_are_plain_words(feature: str, name: str) -> None:
    assert labels([feature])[feature].name == name


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("keyword", "ferry", "Because you read about ferry"),
        ("author", "ines vold", "Because you read what ines vold writes"),
        ("feed", "404 [News]", "Because you read 404 [News]"),
        ("keyword", "c++", "Because you read about c++"),
        ("keyword", "<div>", ""),
        ("keyword", "&nbsp;", ""),
        ("keyword", "nbsp", ""),
        ("keyword", "https://a.example/", ""),
        ("keyword", "www.a.example", ""),
        ("keyword", "2026", ""),
        ("nothing", "ferry", ""),
    ],
)
def test_a_reason_is_one_that_people_give(kind: str, name: str, words: str) -> None:
    assert reason_of(Label(kind, name)) == words


@pytest.mark.parametrize(
    "author", ["Jane <jane@x.example>", "jane@x.example (Jane)", "By Jane", "<b>Jane</b>"]
)
def test_an_author_is_one_however_the_byline_is_written(author: str) -> None:
    assert author_name(author) == "jane"
