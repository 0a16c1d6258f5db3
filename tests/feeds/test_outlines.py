"""OPML: what is read, what is refused, and that what is written can be read."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feeds.adding.opml import MAX_BYTES, MAX_DEPTH, OpmlError, Outline, read_opml, write_opml

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def opml(body: str, version: str = "2.0") -> bytes:
    return f'<?xml version="1.0"?><opml version="{version}"><head/><body>{body}</body></opml>'.encode()


def test_it_reads_feeds_in_nested_folders():
    found = read_opml(
        opml(
            '<outline text="News"><outline text="Tech">'
            '<outline type="rss" text="A" xmlUrl="https://a.example/rss" htmlUrl="https://a.example/"/>'
            '</outline></outline><outline xmlUrl="https://b.example/" title="B"/>'
        )
    )
    assert found == [
        Outline("https://a.example/rss", "A", ("News", "Tech"), "https://a.example/"),
        Outline("https://b.example/", "B"),
    ]


@pytest.mark.parametrize("name", ["xmlUrl", "xmlurl", "XMLURL"])
def test_it_reads_attribute_names_in_any_case(name):
    assert read_opml(opml(f'<outline {name}="https://a.example/"/>', "1.0")) == [
        Outline("https://a.example/")
    ]


def test_the_category_attribute_stands_in_for_a_folder():
    found = read_opml(opml('<outline xmlUrl="https://a.example/" category="/News/Tech,/Other"/>'))
    assert found[0].folder == ("News", "Tech")


def test_a_folder_wins_over_the_category_attribute():
    found = read_opml(
        opml('<outline text="F"><outline xmlUrl="https://a.example/" category="/C"/></outline>')
    )
    assert found[0].folder == ("F",)


def test_it_reads_other_encodings():
    text = opml('<outline xmlUrl="https://a.example/" text="é"/>').decode()
    text = text.replace('version="1.0"', 'version="1.0" encoding="UTF-16"')
    assert read_opml(text.encode("utf-16"))[0].title == "é"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Q & A", "Q & A"),
        ("AT&T", "AT&T"),
        ("Caf&eacute; &mdash; &hellip;", "Café — …"),
        ("&unknown; &amp; &lt;b&gt; &#233;&#xE9;", "&unknown; & <b> éé"),
        ("1&#150;2 &#0;&#x1F;.", "1–2 ."),
        ("a&", "a&"),
    ],
)
def test_a_stray_ampersand_or_an_entity_of_html_refuses_no_list(written, read):
    """A list of hundreds of feeds was refused for one of them."""
    found = read_opml(opml(f'<outline text="{written}" xmlUrl="https://a.example/?a=1&b=2&copy=3"/>'))
    assert (found[0].title, found[0].url) == (read, "https://a.example/?a=1&b=2&copy=3")


def test_a_stray_ampersand_is_found_in_every_encoding_like_ascii():
    text = '<?xml version="1.0" encoding="windows-1252"?><opml><body><outline text="é & &euro;" xmlUrl="u"/>'
    assert read_opml(f"{text}</body></opml>".encode("cp1252"))[0].title == "é & €"


def test_a_stray_ampersand_names_no_wrong_line():
    with pytest.raises(OpmlError, match="line 3"):
        read_opml(b'<opml><body>\n<outline text="&nbsp; & "/>\n<outline></body></opml>')


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"<html><body/></html>", "<html>, not <opml>"),
        (b"<opml version='2.0'/>", "no <body>"),
        (b"<opml><body>\n<outline></body></opml>", "line 2"),
        (b"<!DOCTYPE opml [<!ENTITY a 'b'>]><opml><body/></opml>", "document type"),
        ("<!DOCTYPE opml><opml><body/></opml>".encode("utf-16"), "document type"),
        (b"no xml at all", "not well-formed"),
        (b'<?xml version="1.0" encoding="nonsense-1"?><opml><body/></opml>', "not well-formed"),
    ],
)
def test_it_refuses_broken_files_and_says_why(data, message):
    with pytest.raises(OpmlError, match=message):
        read_opml(data)


def test_it_refuses_deep_nesting():
    depth = MAX_DEPTH + 1
    body = '<outline text="f">' * depth + '<outline xmlUrl="https://a.example/"/>' + "</outline>" * depth
    with pytest.raises(OpmlError, match="nested deeper"):
        read_opml(opml(body))


def test_it_refuses_big_files():
    with pytest.raises(OpmlError, match="larger than 20 MB"):
        read_opml(b" " * (MAX_BYTES + 1))


def test_it_never_opens_what_a_file_points_to(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with pytest.raises(OpmlError):
        read_opml(f'<!DOCTYPE x [<!ENTITY s SYSTEM "{secret}">]><opml><body>&s;</body></opml>'.encode())


names = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=20).map(
    str.strip
)
folders = st.lists(names.filter(bool), max_size=4).map(tuple)


@given(st.lists(st.tuples(names, folders), max_size=8))
def test_what_is_written_is_read_again(rows):
    written = [
        Outline(f"https://h{i}.example/?a=1&b={i}", title or "untitled", folder)
        for i, (title, folder) in enumerate(rows)
    ]
    found = read_opml(write_opml(written, "List", NOW))
    assert sorted(found, key=lambda o: o.url) == sorted(written, key=lambda o: o.url)
