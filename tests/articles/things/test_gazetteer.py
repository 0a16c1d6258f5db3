"""Known names in texts: which names are looked for, and where they are meant."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.things.gazetteer import ORGANISATION, PERSON, Gazetteer, Name, gathered, is_usable

KNOWN = [
    *(Name(PERSON, text) for text in (
        "Ada Example", "Jean-Luc Picard", "J. R. Smith", "Ludwig van Muster", "Анна Каренина", "村上春樹",
        "Ada Example Jones", "Siobhán O'Neill", "Élodie Dupont", "عمر الخيام",
    )),
    *(Name(ORGANISATION, text) for text in (
        "Example Society", "NASA", "GitHub", "Johnson & Johnson", "Bank of Examples", "朝日新聞社",
    )),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yesterday Ada Example spoke.", ["Ada Example"]),
        ("Ada Example", ["Ada Example"]),
        ("Minister Ada Example's house", ["Ada Example"]),
        ("“Ada Example,” she said. Ada Example left.", ["Ada Example"] * 2),
        ("Ada\u00a0Example came", ["Ada Example"]),
        ("Ada Example Jones came", ["Ada Example Jones"]),
        (
            "with Jean-Luc Picard and J.R. Smith, J. R. Smith",
            ["Jean-Luc Picard", "J. R. Smith", "J. R. Smith"],
        ),
        ("Ludwig van Muster wrote", ["Ludwig van Muster"]),
        ("говорила Анна Каренина вчера", ["Анна Каренина"]),
        ("昨日、村上春樹氏は朝日新聞社に語った", ["村上春樹", "朝日新聞社"]),
        ("and Siobhán O’Neill", ["Siobhán O'Neill"]),
        ("and Siobhán O'Neill", ["Siobhán O'Neill"]),
        ("Élodie Dupont parle", ["Élodie Dupont"]),
        ("قال عمر الخيام", ["عمر الخيام"]),
        ("at NASA and on GitHub.", ["NASA", "GitHub"]),
        ("The Example Society met", ["Example Society"]),
        ("It sued Johnson & Johnson.", ["Johnson & Johnson"]),
        ("the Bank of Examples", ["Bank of Examples"]),
    ],
)
def test_names_are_met_where_they_stand(text: str, expected: list[str]) -> None:
    counts = Gazetteer(KNOWN).mentions(text)
    assert sorted(name.text for name in counts.elements()) == sorted(expected)


@pytest.mark.parametrize(
    "text",
    [
        "ada example", "ADA EXAMPLE", "Ada, Example", "Ada. Example", "Ada\nExample", "Ada\n\nExample",
        "on Ada Example Street", "the Royal Example Society", "Ada Examples", "XAda Example", "Adá Example",
        "nasa", "NASAL", "Github", "in example society", "the Ada-Example-Platz", "Ada (Example)",
        "Bank of  Examples\tof", "村上", "",
    ],
)  # fmt: skip
def test_words_that_mean_something_else_are_no_mention(text: str) -> None:
    assert not Gazetteer(KNOWN).mentions(text)


@pytest.mark.parametrize(
    ("kind", "text", "usable"),
    [
        (PERSON, "Ada Example", True), (PERSON, "Ada", False), (PERSON, "ada example", False),
        (PERSON, "News Desk", False), (PERSON, "Guest Author", False), (PERSON, "Ada Example 3", False),
        (PERSON, "Ada <b>", False), (PERSON, "http://a.example/", False), (PERSON, "A B", False),
        (PERSON, "A B C D E F G H", False), (PERSON, "ada@a.example", False), (PERSON, "", False),
        (PERSON, "The man who was Thursday", False), (PERSON, "村上", False), (PERSON, "村上春樹", True),
        (ORGANISATION, "NASA", True), (ORGANISATION, "Apple", False), (ORGANISATION, "GitHub", True),
        (ORGANISATION, "eBay", True), (ORGANISATION, "UN", False), (ORGANISATION, "Example Society", True),
        (ORGANISATION, "Home Page | Example", False), (ORGANISATION, "R2D2", False),
    ],
)  # fmt: skip
def test_names_that_could_be_any_words_are_left_out(kind: str, text: str, usable: bool) -> None:
    assert is_usable(Name(kind, text)) is usable


def test_a_name_needs_two_documents() -> None:
    rows = [("Ada Example", "http://a.example/1", ""), ("Ada Example", "http://a.example/1", "")]
    assert gathered(PERSON, rows) == []
    rows.append(("Ada Example", "http://b.example/", "http://ada.example/"))
    (known,) = gathered(PERSON, rows)
    assert (known.documents, known.sites) == (2, {"a.example", "b.example"})
    assert known.pages() == []  # one site says so, and it is another's address
    (known,) = gathered(PERSON, [*rows, ("Ada Example", "http://a.example/1", "http://ada.example/")])
    assert known.pages() == ["http://ada.example/"]
    (known,) = gathered(PERSON, [*rows, ("Ada Example", "http://a.example/1", "http://a.example/ada")])
    assert known.pages() == ["http://a.example/ada"]


def test_one_document_that_repeats_itself_decides_no_address() -> None:
    rows = [("Ada Example", "http://evil.example/", f"http://evil.example.net/{n}") for n in range(500)] * 9
    rows += [("Ada Example", f"http://{site}.example/", "http://ada.example/") for site in "ab"]
    (known,) = gathered(PERSON, rows)
    assert known.pages() in ([], ["http://ada.example/"])


@given(st.text(), st.lists(st.text(max_size=30), max_size=5))
def test_any_text_and_any_names_end_without_an_error(text: str, names: list[str]) -> None:
    gazetteer = Gazetteer([*KNOWN, *(Name(ORGANISATION, name) for name in names)])
    assert all(count > 0 for count in gazetteer.mentions(text).values())


@pytest.mark.parametrize(
    "text", ["Ada " * 20_000, "村上" * 30_000, "J. " * 20_000, "&" * 60_000, "A" * 60_000]
)
def test_tedious_texts_end_soon(text: str) -> None:
    gazetteer = Gazetteer([*KNOWN, *(Name(PERSON, f"Ada Number{chr(97 + at)}") for at in range(26))])
    began = time.process_time()
    gazetteer.mentions(text)
    assert time.process_time() - began < 2
