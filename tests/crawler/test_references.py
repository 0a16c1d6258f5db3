"""References in XML that comes in pieces: what XML does not know is mended, and nothing else changes."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.references import mended

ODD = b"<a>&amp;&lt; &#233; & && &nbsp;&AMP;&copy &unknown; &#x80;&#0; ?a=1&b=2&c; &"


def whole(*pieces: bytes) -> bytes:
    return b"".join(mended(pieces))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"a & b", b"a &amp; b"),
        (b"&amp;&lt;&gt;&quot;&apos;&#60;", b"&amp;&lt;&gt;&quot;&apos;&#60;"),
        (b"&nbsp;", b"&#160;"),
        (b"&LT;", b"&#60;"),
        (b"&nbsp", b"&amp;nbsp"),
        (b"&x y;", b"&amp;x y;"),
        (b"&#x1F600;", b"&#128512;"),
        (b"&#0;&#xD800;&#99999999;", b""),
        (b"&#;", b"&amp;#;"),
        ("é&é;".encode(), "é&amp;é;".encode()),
    ],
)
def test_references_that_xml_does_not_know_are_mended(written: bytes, read: bytes) -> None:
    assert whole(written) == read


@given(st.lists(st.integers(0, len(ODD)), max_size=5))
def test_it_makes_no_difference_where_a_piece_ends(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(ODD)]
    pieces = [ODD[begin:end] for begin, end in itertools.pairwise(edges) if begin < end]
    assert whole(*pieces) == whole(ODD)


@pytest.mark.parametrize(
    "document",
    [
        '<?xml version="1.0" encoding="UTF-16"?><a>&</a>'.encode("utf-16"),
        "<a>☦ &</a>".encode("utf-16-le"),
        '<?xml version="1.0" encoding="ISO-2022-JP"?><a>ウ</a>'.encode("iso-2022-jp"),
    ],
)
def test_other_encodings_are_left_alone(document: bytes) -> None:
    assert whole(document[:60], document[60:]) == document


@pytest.mark.parametrize("unit", [b"&", b"&a", b"&#", b"&nbsp;", b"&" + b"a" * 60, b"&#0;"])
def test_many_references_take_no_long(unit: bytes) -> None:
    piece = unit * (65536 // len(unit))
    began = time.process_time()
    assert sum(1 for _ in mended([piece] * 320)) >= 320
    assert time.process_time() - began < 5
