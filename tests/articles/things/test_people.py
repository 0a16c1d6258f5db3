"""Names in bylines, and when two sites' people of one name are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.things.people import Evidence, merged, name_key, names_of, site_of


@pytest.mark.parametrize(
    ("byline", "names"),
    [
        ("Ada Example", ["Ada Example"]),
        ("By Ada Example and Bob Other", ["Ada Example", "Bob Other"]),
        ("Ada Example, Bob Other", ["Ada Example", "Bob Other"]),
        ("Lovelace, Ada", ["Lovelace, Ada"]),
        ("Ada Example; Bob Other & Cleo Third", ["Ada Example", "Bob Other", "Cleo Third"]),
        ("ada@example.org (Ada Example)", ["Ada Example"]),
        ("Ada Example <ada@example.org>", ["Ada Example"]),
        ("Álvaro Ñandú y Ana Sol", ["Álvaro Ñandú", "Ana Sol"]),
        ("Ada Example, Ada Example", ["Ada Example"]),
        ("山田太郎", ["山田太郎"]),
        ("Andy Anderson", ["Andy Anderson"]),
        ("</R Biólogos>", ["R Biólogos"]),
        ("Jane <jane@x.example>", ["Jane"]),
        ("Jane Roe <jane@x.example>, Bob Lee <bob@x.example>", ["Jane Roe", "Bob Lee"]),
        ("&lt;b&gt;Ann&lt;/b&gt;", ["Ann"]),
        ("&amp;lt;b&amp;gt;Ann", ["Ann"]),
        ('<a href="/ann">Ann Lee</a>, <i>Bob Roe</i>', ["Ann Lee", "Bob Roe"]),
        ("Ann<br>", ["Ann"]),
        ("@ann@social.example", ["@ann@social.example"]),
        ("jane@x.example", []),
        ("<p></p>", []),
        ("", []),
        (" , ", []),
    ],
)
def test_a_byline_has_names(byline, names):
    assert names_of(byline) == names


@given(st.text(max_size=500))
def test_any_byline_is_read(byline):
    assert all(name.strip() == name for name in names_of(byline))
    name_key(byline)
    site_of(f"http://{byline}")


@pytest.mark.parametrize(
    ("name", "key"), [("Álvaro  Ñandú", "alvaro nandu"), ("O’Neill, Ada", "o neill ada"), ("李 明", "李 明")]
)
def test_names_are_compared_without_accents(name, key):
    assert name_key(name) == key


def test_people_are_one_by_a_shared_address_or_a_home_page_on_the_other_site():
    sites = ["news.example", "blog.example", "ada.example", "other.example"]
    addresses = {
        "news.example": frozenset({"https://orcid.org/1", "https://ada.example/about"}),
        "blog.example": frozenset({"https://orcid.org/1"}),
        "other.example": frozenset({"https://elsewhere.example"}),
    }
    one, two = merged("Ada", sites, addresses)
    assert one.sites == ["news.example", "blog.example", "ada.example"]
    assert one.evidence == [
        Evidence(("news.example", "blog.example"), "https://orcid.org/1"),
        Evidence(("news.example", "ada.example"), "https://ada.example/about"),
    ]
    assert (two.sites, two.evidence) == (["other.example"], [])


def test_without_addresses_every_site_has_a_person_of_its_own():
    people = merged("Ada", ["a.example", "b.example"], {})
    assert [person.sites for person in people] == [["a.example"], ["b.example"]]
