"""Words and sentences in many languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.enrichment.words import sentences, terms, words


def test_chinese_and_japanese_come_as_words():
    assert {"会议", "模型", "训练"} <= set(terms("昨天的会议讨论了人工智能模型的训练方法。", "zh-CN"))
    assert {"東京", "会議", "言語"} <= set(terms("東京で開催された会議で新しい言語が発表されました。", "ja"))


def test_thai_comes_as_words():
    assert "รัฐบาล" in terms("รัฐบาลประกาศนโยบายใหม่เกี่ยวกับการศึกษา", "th")


@pytest.mark.parametrize(
    ("language", "text", "kept"),
    [
        ("en", "The borrow checker’s errors and the compiler", ["borrow", "checker", "errors", "compiler"]),
        ("de", "Die Regierung und der Bundestag", ["regierung", "bundestag"]),
        ("ru", "Вчера компания представила процессор", {"компания", "процессор"}),
        ("", "An unknown tongue speaks", {"unknown", "tongue"}),
    ],
)
def test_function_words_and_numbers_are_no_terms(language, text, kept):
    found = terms(text, language)
    assert set(kept) <= set(found)
    assert not {"the", "and", "die", "und", "der"} & set(found)


def test_checksums_and_addresses_are_no_terms():
    assert terms("27731b2a1cd55cbd682c517e 2024 v1 https://example.org", "en") == ["example.org"]


def test_sentences_end_with_lines_and_with_marks():
    assert sentences("One. Two!\nThree", "en") == ["One.", "Two!", "Three"]
    assert len(sentences("会议在北京举行。第三句话。", "zh")) == 2


@given(st.text(max_size=300), st.sampled_from(["", "en", "zh", "ja", "th", "xx-Yyyy", "not a language"]))
def test_any_text_can_be_read(text, language):
    assert all(word for word in words(text, language))
    assert set(terms(text, language)) <= {word.removesuffix("'s") for word in words(text, language)}
