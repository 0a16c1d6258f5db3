"""The first sentence of the pipeline's page."""

from __future__ import annotations

import pytest

from crawler.pipeline.wording import cause_words, state_sentence


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ((0, 0, 0, 0.0), "Nothing has been read yet."),
        ((9, 0, 0, 0.0), "All texts are read."),
        ((9, 0, 1, 0.0), "All texts are read; 1 document could not be read."),
        ((9, 0, 2, 0.0), "All texts are read; 2 documents could not be read."),
        ((900, 312, 2, 80.0), "312 texts behind, done in 4 minutes."),
        ((900, 312, 0, 0.0), "312 texts behind."),
        ((9, 1, 0, 50.0), "1 text behind, done in a minute."),
        ((9, 1, 0, 0.1), "1 text behind, done in 10 minutes."),
    ],
)
def test_it_says_whether_all_is_read(figures: tuple[int, int, int, float], words: str) -> None:
    assert state_sentence(*figures) == words


def test_causes_are_sentences() -> None:
    assert cause_words("too-large") == "The document is larger than the allowed size."
    assert "again and again" in cause_words("lost")
    assert "odd" in cause_words("odd")
