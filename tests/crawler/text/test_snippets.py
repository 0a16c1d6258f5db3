"""Parts of a text around the words of a search."""

import pytest

from crawler.text.snippets import snippet

MANY = " ".join(f"word{number}" for number in range(100))


@pytest.mark.parametrize(
    ("text", "stems", "shown"),
    [
        ("Un geógrafo de España", ["geograf", "espan"], "Un [geógrafo] de [España]"),
        ("The Geographers met", ["geograph"], "The [Geographers] met"),
        ("minerals of the mine", ["min", "mine"], "minerals of the [mine]"),
        ("今日は機械学習について", ["機", "械"], "今日は[機械]学習について"),
        ("nothing of the kind", ["other"], "nothing of the kind"),
        ("nothing", [], "nothing"),
        ("", ["a"], ""),
        ("a \ue000b\ue001 c", ["b"], "a [b] c"),
        ("c++ (and more)", ["c++"], "[c++] (and more)"),
    ],
)
def test_words_are_marked_in_all_their_forms(text, stems, shown):
    assert snippet(text, stems).replace("\ue000", "[").replace("\ue001", "]") == shown


def test_at_most_two_short_parts_are_shown():
    text = f"start {MANY} flood {MANY} flood {MANY} flood"
    parts = snippet(text, ["flood"]).split(" … ")
    assert len(parts) == 2
    assert all("\ue000flood\ue001" in part and len(part.split()) <= 24 for part in parts)


def test_a_long_text_without_blanks_is_read_in_time():
    assert len(snippet("x" * 200_000 + " flood", ["flood"])) < 5_000
