"""Answers of a model, sentence by sentence: numbers of sources, and quotations letter by letter."""

from __future__ import annotations

import pytest

from articles.modelled.checking import TAKEN_OUT, check, holds, plain, split

LAMPS = "One lamp was found in the cellar. “It’s very old”, the keeper said — nobody had looked for years."
BRIDGES = "The bridge is unlawful to enter here. „Wir bauen die Brücke neu“, sagte sie am 3. Mai."
TRAINS = (
    "Trains run again since Monday. 列車は月曜日から再び走っている。 Deux «\xa0trains de nuit\xa0» roulent."
)
TEXTS = [LAMPS, BRIDGES, TRAINS]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # Numbers
        ("A lamp was found [1].", [("A lamp was found.", [1], False)]),
        ("A lamp was found. [1]", [("A lamp was found.", [1], False)]),
        ("A lamp was found [1]. Trains run [3].", [("A lamp was found.", [1]), ("Trains run.", [3])]),
        ("A lamp was found. [1] Trains run. [3]", [("A lamp was found.", [1]), ("Trains run.", [3])]),
        ("They agree [1, 3].", [("They agree.", [1, 3])]),
        ("They agree [1][3].", [("They agree.", [1, 3])]),
        ("They agree [1-3].", [("They agree.", [1, 2, 3])]),
        ("They agree 【2】.", [("They agree.", [2])]),
        ("They agree [Article 2].", [("They agree.", [2])]),
        ("Lamps are nice.", [("Lamps are nice.", [])]),
        ("Lamps are nice [9].", [("Lamps are nice.", [])]),
        ("Lamps are nice [0].", [("Lamps are nice.", [])]),
        ("Lamps are nice [1, 12].", [("Lamps are nice.", [1])]),
        ("", []),
        ("[1]", []),
        # Sentences
        ("Dr. Smith found it [1].", [("Dr. Smith found it.", [1])]),
        ("Am 3. Mai kam sie [2].", [("Am 3. Mai kam sie.", [2])]),
        ("- A lamp [1].\n- A train [3].", [("A lamp.", [1]), ("A train.", [3])]),
        ("**A lamp** [1].", [("A lamp.", [1])]),
        # Quotations that stand there
        ('They say "One lamp was found" [1].', [('They say "One lamp was found".', [1], False)]),
        ('He says "It\'s very old" [1].', [('He says "It\'s very old".', [1])]),
        ("He says “old”, the keeper said – nobody” [1].", None),
        ("Sie sagt: „Wir bauen die Brücke neu“ [2].", [("Sie sagt: „Wir bauen die Brücke neu“.", [2])]),
        ("Sie sagt: »Wir bauen die Brücke neu« [2].", [("Sie sagt: »Wir bauen die Brücke neu«.", [2])]),
        ("Deux «trains de nuit» [3].", [("Deux «trains de nuit».", [3])]),
        ("It says ‘One lamp was found’ [1].", [("It says ‘One lamp was found’.", [1])]),
        ("「列車は月曜日から再び」[3]", [("「列車は月曜日から再び」", [3])]),
        ('"One lamp was found." [1]', [('"One lamp was found."', [1])]),
        ('"One lamp … in the cellar" [1].', [('"One lamp … in the cellar".', [1])]),
        # Quotations from another article
        ('They say "One lamp was found" [2].', [('They say "One lamp was found".', [1], True)]),
        ('They say "One lamp was found".', [('They say "One lamp was found".', [1], True)]),
        ('They say "One lamp was found" [9].', [('They say "One lamp was found".', [1], True)]),
        (
            '"One lamp was found" and "Trains run again since" [1].',
            [('"One lamp was found" and "Trains run again since".', [1, 3], True)],
        ),
        # Quotations that stand nowhere
        ('They say "Two lamps were found" [1].', [(f"They say {TAKEN_OUT}.", [1], False)]),
        ('They say "one lamp was found" [1].', [(f"They say {TAKEN_OUT}.", [1])]),
        ('It is "lawful to enter here" [2].', [(f"It is {TAKEN_OUT}.", [2])]),
        ('They say "One … cellar … years" [1].', [(f"They say {TAKEN_OUT}.", [1])]),
        ('They say "Two lamps. Three lamps. Four" [1].', [(f"They say {TAKEN_OUT}.", [1])]),
        ('They say "Two lamps were found [1].', [(f"They say {TAKEN_OUT}", [1])]),
        ("They say 「二つのランプが見つかった」 [3].", [(f"They say {TAKEN_OUT}.", [3])]),
        # Short ones are names
        ('The "Blue Lamp" glows [1].', [('The "Blue Lamp" glows.', [1])]),
        (f"A lamp {TAKEN_OUT}glows [1].", [("A lamp glows.", [1])]),
    ],
)
def test_an_answer_is_checked(answer: str, expected: list[tuple[object, ...]] | None) -> None:
    checked = check(answer, TEXTS)
    if expected is None:
        assert checked.taken_out == 0
        return
    rows = [(one.text, one.sources, one.is_corrected) for one in checked.sentences]
    assert [row[: len(want)] for row, want in zip(rows, expected, strict=True)] == expected
    assert checked.taken_out == sum(str(want[0]).count(TAKEN_OUT) for want in expected)


def test_paragraphs_are_kept() -> None:
    checked = check("One [1]. Two [1].\n\nThree [1].", TEXTS)
    assert [one.begins for one in checked.sentences] == [True, False, True]


def test_each_invented_quotation_is_counted() -> None:
    answer = 'He said "we never met him" and "we never saw it" [1]. She said "it was all green" [2].'
    assert check(answer, TEXTS).taken_out == 3


def test_no_text_holds_an_empty_quotation() -> None:
    assert not holds(plain(LAMPS), " … ")


def test_a_quotation_of_two_sentences_stays_together() -> None:
    assert split('He said: "Stop it. Now go." They went [1].')[0].startswith('He said: "Stop it. Now go."')
