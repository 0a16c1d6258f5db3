# ruff: noqa: E501 (documents stand as they come)
"""Article pages give their text and what they say of themselves."""

from __future__ import annotations

import zlib

import pytest

from crawler.reading.documents import PageDocument
from crawler.reading.errors import ReadingError
from crawler.reading.pages import extract_page

URL = "https://example.org/2024/01/post"
NOON = 1704110400.0  # 2024-01-01 12:00 UTC
PROSE = (
    "The river rose two metres in a single night and the people of the lower town moved to the school on the hill. "
    "By morning the bridge was closed, and the council asked everyone to stay where they were until further notice."
)


def page(
    head: str = "", body: str = f"<article><h1>Flood</h1><p>{PROSE}</p></article>", root: str = "<html>"
) -> PageDocument:
    html = f"<!DOCTYPE html>{root}<head>{head}</head><body>{body}</body></html>"
    return extract_page(html.encode(), url=URL, content_type="text/html; charset=utf-8")


def test_it_keeps_the_text_and_drops_what_stands_around_it() -> None:
    body = f"""<nav><a href=/>Home</a><a href=/a>About us</a></nav><article><h1>Flood</h1><p>{PROSE}</p><p>{PROSE[::-1]}</p>
    <script>track()</script></article><aside>Related stories</aside><footer>Imprint and privacy</footer>"""
    text = page(body=body).text
    assert PROSE in text and "\n" in text
    assert not any(word in text for word in ("About us", "track", "Imprint", "Related"))


NOTE = "In diesem Video geht es um die Prüfung von Brücken nach einem Hochwasser."
AROUND = """<div class="subscribe-section"><p>Never miss a new article again: subscribe to our channels and get all
updates</p></div><section id="similar-posts"><h3>What others read</h3><p><a href=/1>The long night of the lower town
and what came after it</a></p><p><a href=/2>Ten questions to the council about the bridge</a></p></section>"""


def test_a_note_of_one_sentence_comes_without_offers_and_related_articles() -> None:
    found = page(body=f"<article><h1>Brücken</h1><p>{NOTE}</p>{AROUND}</article>", root="<html lang=en>")
    assert NOTE in found.text
    assert "subscribe" not in found.text and "lower town" not in found.text
    assert found.language == "de"


def test_no_name_makes_a_long_text_furniture() -> None:
    paragraphs = f"<p>{PROSE}</p><p>{PROSE[::-1]}</p><p>{PROSE.upper()}</p>"
    found = page(body=f"<div class='subscribe'>{paragraphs}</div><div class=footer>{NOTE} {NOTE}</div>")
    assert PROSE in found.text


def test_a_short_text_in_an_element_with_such_a_name_is_found_all_the_same() -> None:
    assert PROSE in page(body=f"<div>12 %</div><div class=subscribe><p>{PROSE}</p></div>").text


def test_it_keeps_the_body_as_received() -> None:
    body = b"<html><body><p>\xff caf\xe9</p></body></html>"
    found = extract_page(body, url=URL, content_type="text/html")
    assert zlib.decompress(found.html) == body


def test_short_pages_give_their_largest_block_and_empty_ones_their_description() -> None:
    assert page(body="<div><nav>menu</nav><div><p>Just one line.</p></div></div>").text == "Just one line."
    assert (
        page('<meta name=description content="What it is about.">', "<img src=x>").text == "What it is about."
    )


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>Flood in the lower town | The Daily</title>", "Flood in the lower town"),
        ("<title>The Daily - Flood - News</title>", "Flood"),
        ("<meta property=og:title content='Bridge &amp; town'><title>x</title>", "Bridge & town"),
        ("<meta property=og:site_name content=Daily><title>Daily: a | Daily</title>", "Daily: a"),
        ("<title>A well-known half-open case</title>", "A well-known half-open case"),
        ("", "Flood"),
    ],
)
def test_title_comes_without_the_name_of_the_site(head: str, title: str) -> None:
    assert page(head).title == title


def test_a_title_that_advertises_the_site_is_not_that_of_the_page() -> None:
    head = (
        "<meta property=og:site_name content=Leaf><meta property=og:title content='Leaf – Notes for all'>"
        "<title>{}</title>"
    )
    assert page(head.format("Flood"), f"<h1>Flood</h1><p>{PROSE}</p>").title == "Flood"
    # Nothing else names the page here: the title element and the heading are the site's.
    assert page(head.format("Leaf"), f"<h1>Leaf</h1><p>{PROSE}</p>").title == "Notes for all"


def test_a_page_without_title_and_h1_is_called_by_its_first_heading() -> None:
    assert page("<title></title>", f"<h2>Second rank</h2><p>{PROSE}</p>").title == "Second rank"


JSON_LD = """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [{"@type": "Organization",
"name": "Org"}, {"@type": ["NewsArticle"], "author": [{"@type": "Person", "name": "Ann Lee"}, {"name": "Bo"}],
"datePublished": "2024-01-01T13:00:00+01:00"}]}</script>"""


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        (JSON_LD, "", "Ann Lee, Bo"),
        ('<meta name="author" content="Ann Lee">', "", "Ann Lee"),
        ('<meta property="article:author" content="https://example.org/ann">', "<a rel=author>Bo</a>", "Bo"),
        ("", '<p class="entry-byline">By Ann Lee</p>', "Ann Lee"),
        ("", '<div class="post-author">Jan. 6, 2024 · Ann Lee</div>', "Ann Lee"),
        ("", "", ""),
    ],
)
def test_author(head: str, body: str, author: str) -> None:
    assert page(head, body + f"<p>{PROSE}</p>").author == author


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (JSON_LD, ""),
        ('<script type="application/ld+json">{broken</script>' + JSON_LD, ""),
        ('<meta property="article:published_time" content="2024-01-01T12:00:00Z">', ""),
        ('<meta name="date" content="2024-01-01 13:00 +0100">', ""),
        ("", '<time datetime="2024-01-01T12:00:00Z">then</time>'),
        ("", '<time datetime="Mon, 01 Jan 2024 12:00:00 GMT">then</time>'),
        ("", '<time datetime="2023-05-05">x</time><time pubdate datetime="2024-01-01T12:00Z">y</time>'),
    ],
)
def test_time_of_publication(head: str, body: str) -> None:
    assert page(head, body + f"<p>{PROSE}</p>").published == NOON


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://example.org/2024/01/01/post", 1704067200.0),
        ("https://example.org/news-2024/1/1.html", None),
        ("https://example.org/2024/13/01/x", None),
        ("https://example.org/post?d=/2024/01/01/", None),
    ],
)
def test_the_date_in_the_address_is_the_last_resort(url: str, day: float | None) -> None:
    assert extract_page(f"<p>{PROSE}</p>".encode(), url=url, content_type="text/html").published == day


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ('<link rel="canonical" href="/post">', "https://example.org/post"),
        ('<link rel="CANONICAL" href="//www.example.org/p">', "https://www.example.org/p"),
        ('<meta property="og:url" content="https://example.org/og">', "https://example.org/og"),
        ('<link rel="canonical" href="javascript:x"><meta property="og:url" content="https://example.org/og">', "https://example.org/og"),
        ('<link rel="canonical" href="http://[bad">', ""),
        ("", ""),
    ],
)  # fmt: skip
def test_canonical_address_is_absolute_and_of_the_web(head: str, canonical: str) -> None:
    assert page(head).canonical_url == canonical


@pytest.mark.parametrize(
    ("body", "content_type", "word"),
    [
        ("Größe".encode("cp1252"), "text/html; charset=iso-8859-1", "Größe"),
        ("<meta charset=windows-1251>Привет".encode("cp1251"), "text/html", "Привет"),
        ("\ufeffпривет".encode("utf-16"), "text/html; charset=utf-8", "привет"),
        ("<meta charset=utf-8>日本".encode(), "text/html", "日本"),
        ("<?xml version='1.0' encoding='UTF-8'?><html><body>größe</body></html>".encode(), "application/xhtml+xml", "größe"),
    ],
)  # fmt: skip
def test_it_reads_any_encoding(body: bytes, content_type: str, word: str) -> None:
    assert word in extract_page(body, url=URL, content_type=content_type).text


def test_plain_text_is_its_own_text() -> None:
    found = extract_page(f"Flood\n\n{PROSE}\n".encode(), url=URL, content_type="text/plain; charset=utf-8")
    assert (found.title, found.text, found.language) == ("Flood", f"Flood\n\n{PROSE}", "en")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"%PDF-1.7", "application/pdf"),
        (b"%PDF-1.7", "text/html"),
        (b"\x89PNG\r\n", "image/png"),
        (b"\xff\xd8\xff\xe0", ""),
        (b"no markup at all", "application/octet-stream"),
        (b"{}", "application/json"),
        (b"<rss/>", "application/rss+xml"),
    ],
)
def test_other_types_are_refused(body: bytes, content_type: str) -> None:
    with pytest.raises(ReadingError) as raised:
        extract_page(body, url=URL, content_type=content_type)
    assert raised.value.kind == "unsupported-type"


@pytest.mark.parametrize("body", [b"", b" ", b"<!-- -->", b"\0"])
def test_empty_pages_give_empty_text(body: bytes) -> None:
    assert extract_page(body, url=URL, content_type="text/html").text.strip("\ufffd") == ""


@pytest.mark.parametrize(
    "about",
    [
        "Ann Lee is a writer who lives by the sea and loves boats.",
        "Ann Lee is a writer at The Paper, where she has covered boats, harbours and the people who live of them "
        "for more than twenty years, and she loves the sea more than anything else that there is on this earth.",
    ],
)
def test_sentences_about_an_author_are_no_name(about: str) -> None:
    """The class of the box, `author-bio`, is taken for that of a byline, and its beginning for a name."""
    body = f"<html><body><article><p>{PROSE}</p><div class=author-bio>{about}</div></article></body></html>"
    assert extract_page(body.encode(), url=URL).author == ""
