"""MinHash, bands, and when two texts are one."""

import random

from hypothesis import given
from hypothesis import strategies as st

from articles.enrichment.fingerprints import fingerprint, jaccard, likenesses, shingles, signatures
from articles.enrichment.sameness import (
    StoryCandidate,
    min_likeness,
    numbers,
    same_address,
    same_text,
    told_apart,
)

DICE = random.Random(5)
TEXT = [DICE.choice("abcdefgh") + str(DICE.randint(0, 400)) for _ in range(600)]


def edited(share: float) -> list[str]:
    copy = list(TEXT)
    for at in DICE.sample(range(len(copy)), int(share * len(copy))):
        copy[at] = "changed"
    return copy


def test_the_same_text_has_the_same_fingerprint():
    assert fingerprint(shingles(TEXT)) == fingerprint(shingles(list(TEXT)))


def test_an_edited_copy_shares_bands_and_another_text_does_not():
    own, copy = fingerprint(shingles(TEXT)), fingerprint(shingles(edited(0.03)))
    assert set(own.bands) & set(copy.bands)
    other = fingerprint(shingles([word + "x" for word in TEXT]))
    assert not set(own.bands) & set(other.bands)


def test_the_estimate_is_near_the_jaccard_index():
    for share in (0.01, 0.05, 0.1, 0.2):
        one, other = shingles(TEXT), shingles(edited(share))
        table = signatures([fingerprint(one).signature, fingerprint(other).signature])
        estimate = likenesses(table[0], table)[1]
        assert abs(estimate - jaccard(one, other)) < 0.15


def test_short_texts_have_no_bands():
    assert fingerprint(shingles(TEXT[:20])).bands == ()


@given(st.frozensets(st.integers(0, 2**64 - 1), min_size=40, max_size=80))
def test_fingerprints_do_not_depend_on_order(hashes):
    again = frozenset(sorted(hashes, reverse=True))
    assert fingerprint(hashes) == fingerprint(again)


def test_texts_are_one_only_when_nearly_all_is_shared():
    assert same_text(shingles(TEXT), shingles(edited(0.03)), 0.7) > 0.7
    assert same_text(shingles(TEXT), shingles(edited(0.3)), 0.5) == 0.0
    assert same_text(shingles(TEXT[:20]), shingles(TEXT[:20]), 0.5) == 0.0


def test_titles_say_how_like_texts_must_be():
    assert min_likeness(candidate(title="Rain in hills"), candidate(title="Rain in hills")) == 0.5
    assert min_likeness(candidate(title="Rain in hills"), candidate(title="Rain at last, they say")) is None
    assert min_likeness(candidate(title="Rain hills"), candidate(title="Hills are wet")) == 0.7
    assert min_likeness(candidate(title="Linux"), candidate(title="Network")) is None
    assert min_likeness(candidate(title="Issue 5"), candidate(title="Issue 6")) is None


def candidate(feed=1, title="A title of words", own="", address="x"):
    return StoryCandidate(
        feed, frozenset(title.lower().split()), numbers(title), frozenset(own.split()), address
    )


def test_a_title_alone_makes_no_story():
    assert not same_address(candidate(1, address="x"), candidate(2, address="y"))


def test_an_address_needs_a_second_sign():
    assert same_address(candidate(1), candidate(2))
    assert not same_address(candidate(1), candidate(2, title="Comment by Ann"))
    assert same_address(
        candidate(1, own="rain in the hills"), candidate(2, "Comment by Ann", "rain in the hills")
    )
    assert not same_address(candidate(1), candidate(1))


def test_numbers_tell_issues_apart():
    assert told_apart(candidate(1, "This week 500"), candidate(2, "This week 501"))
    assert not told_apart(candidate(1, "This week"), candidate(2, "This week 501"))
    assert not same_address(candidate(1, "This week 500"), candidate(2, "This week 501"))
