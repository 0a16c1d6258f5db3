"""Full-text search over many languages, on PostgreSQL."""

import pytest

from articles.models import Article
from tests.factories import make_article

pytestmark = pytest.mark.django_db


def found(words: str, language: str = "") -> set[str]:
    return set(Article.objects.search(words, language).values_list("title", flat=True))


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "The rivers were flooding the valleys", "flood"),
        ("en-GB", "The rivers were flooding the valleys", "rivers flooded"),
        ("de", "Die Häuser am Fluss", "haus"),
        ("ru", "Новые версии библиотек", "версия"),
        ("fr", "Les rivières débordent", "rivière"),
        ("tlh", "Qapla batlh je", "qapla"),
    ],
)
def test_words_are_found_in_other_forms_where_the_language_has_a_stemmer(language, text, words):
    make_article(title="this", language=language, text=text)
    make_article(title="other", language="en", text="Nothing of the kind")
    assert found(words) == {"this"}
    assert found(words, language) == {"this"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("今日は機械学習について話します。", "機械学習"),
        ("我们讨论人工智能的发展", "人工智能"),
        ("오늘은 인공지능을 이야기합니다", "인공지능"),
    ],
)
def test_any_part_of_a_text_without_spaces_is_found_as_a_phrase(text, words):
    make_article(title="this", language="", text=text)
    make_article(title="scattered", language="", text="。".join(text))
    make_article(title="other", language="", text="習学械機")
    assert "this" in found(words)
    assert "other" not in found(words)


def test_quotes_and_minus_work_as_on_the_web():
    make_article(title="both", text="fresh water and salt water")
    make_article(title="one", text="water that is fresh")
    assert found('"fresh water"') == {"both"}
    assert found("water -salt") == {"one"}
    assert found("-salt") == {"one"}
    assert found("salt - water") == {"both"}
    assert found("salt or fresh") == {"both", "one"}


def test_titles_and_authors_are_searched_too_and_odd_input_is_harmless():
    make_article(title="Delta works", author="Ada Example", text="x")
    assert found("delta") == found("example") == {"Delta works"}
    for words in ("'", '"', "&|!()", "\\", "a" * 5000, "-", "🜁"):
        found(words)


def test_the_index_follows_the_text():
    article = make_article(title="t", text="before")
    Article.objects.filter(id=article.id).update(text="after")
    assert found("before") == set()
    assert found("after") == {"t"}


def test_a_text_beyond_the_size_of_an_index_entry_is_stored():
    words = " ".join(f"word{i}" for i in range(300_000))
    make_article(title="long", text=words)
    assert found("word7") == {"long"}
