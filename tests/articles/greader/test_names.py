"""The names of items and streams."""

import pytest

from articles.greader.names import BadInput, Stream, item_id, item_key, label, stream

OWN = ("7", "ann")


@pytest.mark.parametrize("key", [1, 31, 2**40, 2**63 - 1])
def test_an_item_is_known_by_every_form_of_its_id(key):
    assert item_id(key) == f"tag:google.com,2005:reader/item/{key:016x}"
    forms = (
        item_id(key),
        f"tag:google.com,2005:reader/item/{key:x}",
        f"{key:016x}",
        f"{key:016X}",
        str(key),
    )
    assert {item_key(form) for form in forms} == {key}


def test_the_original_s_ids_were_signed():
    assert item_key("tag:google.com,2005:reader/item/ffffffffffffffff") == item_key("-1") == -1


@pytest.mark.parametrize(
    "text",
    ["", "x", "1.5", "١٢", "tag:google.com,2005:reader/item/", "tag:google.com,2005:reader/item/xyz",
     "9" * 19, "tag:google.com,2005:reader/item/" + "0" * 17, "1 or 1=1", "--1"],
)  # fmt: skip
def test_what_is_not_the_id_of_an_item_is_refused(text):
    with pytest.raises(BadInput):
        item_key(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user/-/state/com.google/reading-list", Stream("state", "reading-list")),
        ("user/7/state/com.google/starred", Stream("state", "starred")),
        ("user/ann/state/com.google/read", Stream("state", "read")),
        ("user/-/state/com.google/kept-unread", Stream("state", "unread")),
        ("user/-/state/com.google/broadcast", Stream("state", "other")),
        ("user/-/label/News/Tech", Stream("label", "News/Tech")),
        ("feed/12", Stream("feed", "12")),
        ("feed/https://a.example/feed?x=1", Stream("feed", "https://a.example/feed?x=1")),
    ],
)
def test_streams_have_names(text, expected):
    assert stream(text, OWN) == expected


@pytest.mark.parametrize(
    "text",
    ["", "feed/", "user/-/state/com.google/", "user/8/state/com.google/read", "user/-/label/", "user/-/x/y",
     "user/-/state/com.google/Read it", "user//label/a", "states"],
)  # fmt: skip
def test_what_is_not_a_stream_or_is_another_s_is_refused(text):
    with pytest.raises(BadInput):
        stream(text, OWN)


def test_a_label_is_not_any_stream():
    assert label("user/-/label/News", OWN) == "News"
    with pytest.raises(BadInput):
        label("feed/1", OWN)
