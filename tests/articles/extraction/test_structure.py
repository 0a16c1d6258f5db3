"""What is kept of an article's page: its structure, without what stands around it."""

from __future__ import annotations

import pytest

from crawler.reading.embeds import embedded_page
from crawler.reading.pages import extract_page
from crawler.reading.pages.structure import paragraphs, words_of

URL = "https://news.example/2026/ferry/"
TEXT = (
    "The ferry crosses the river every morning, and people with bicycles wait at the landing for its bell. "
)


def content_of(body: str, head: str = "") -> str:
    page = f"<html><head><title>The ferry</title>{head}</head><body>{body}</body></html>"
    return extract_page(page.encode(), url=URL, content_type="text/html; charset=utf-8").content


def article(inner: str, before: str = "", after: str = "") -> str:
    """Return a page's body with an article that begins and ends with paragraphs of its own."""
    return (
        f"<nav><a href='/'>Home</a> <a href='/news'>News</a></nav>{before}<main><article>"
        f"<h1>The ferry</h1><p>First words: {TEXT * 3}</p>{inner}"
        f"<p>Last words: {TEXT * 3}</p></article></main>"
        f"{after}<footer>All rights reserved by the paper</footer>"
    )


KEPT = {
    "a heading": ("<h2>At noon</h2><p>" + TEXT * 3 + "</p>", "<h2>At noon</h2>"),
    "a link": (
        f"<p>{TEXT * 2}<a href='../boats/'>boats</a> {TEXT}</p>",
        'href="https://news.example/2026/boats/"',
    ),
    "a list": (f"<ul><li>{TEXT}</li><li>{TEXT}</li></ul>", "<li>"),
    "a list of links": (
        f"<p>{TEXT}</p><ul><li><a href='https://a.example/'>Anna</a></li>"
        "<li><a href='https://b.example/'>Bo</a></li></ul>",
        'href="https://b.example/"',
    ),
    "a list whose items are paragraphs of links": (
        "<ul><li><p><a href='https://a.example/'>Anna</a></p></li>"
        "<li><p><a href='https://b.example/'>Bo</a></p></li></ul>",
        'href="https://b.example/"',
    ),
    "a paragraph that is a link": ("<p><a href='/timetable.pdf'>Timetable</a></p>", "Timetable</a></p>"),
    "a word in a cell": (
        f"<table><tr><th><p>Boat</p></th><td><p>{TEXT}</p></td></tr><tr><th><p>Fare</p></th>"
        "<td><p>Free</p></td></tr></table>",
        "<p>Free</p>",
    ),
    "two pictures with long captions": (
        f"<p>{TEXT}</p><div>"
        + "".join(
            f"<figure><img src='/{name}.jpg'><figcaption>{'seen from above ' * 9}</figcaption></figure>"
            for name in ("stern", "bow")
        )
        + "</div>",
        "bow.jpg",
    ),
    "a quotation": (f"<blockquote><p>{TEXT * 2}</p></blockquote>", "<blockquote>"),
    "code to the letter": (
        f"<p>{TEXT}</p><pre><code class='hljs language-python'>def a():\n"
        "    <span class='comment'># wait</span>\n"
        "    return  1\n</code></pre>",
        '<pre><code class="language-python">def a():\n    # wait\n    return  1\n</code></pre>',
    ),
    "a table": (
        f"<p>{TEXT}</p><table><tr><th>Time</th><th>Boat</th></tr><tr><td>8</td><td>Gull</td></tr></table>",
        "<td>Gull</td>",
    ),
    "a figure with its caption": (
        f"<p>{TEXT}</p><figure><img src='/ferry.jpg' width='800' height='600' alt='A ferry'>"
        "<figcaption>At the landing</figcaption></figure>",
        "<figcaption>At the landing</figcaption>",
    ),
    "the size of a picture": (
        f"<p>{TEXT}</p><p><img src='/ferry.jpg' width='800' height='600' alt=''></p>",
        'width="800" height="600"',
    ),
    "a lazy picture": (
        f"<p>{TEXT}</p><p><img src='data:image/gif;base64,R0' data-src='/lazy.jpg'></p>",
        'src="https://news.example/lazy.jpg"',
    ),
    "a picture for readers without scripts": (
        f"<p>{TEXT}</p><div><noscript><img src='/plain.jpg'></noscript></div>",
        'src="https://news.example/plain.jpg"',
    ),
    "the largest of a set": (
        f"<p>{TEXT}</p><img srcset='/s.jpg 400w, /l.jpg 1600w'>",
        'src="https://news.example/l.jpg"',
    ),
    "a video as a link": (
        f"<p>{TEXT}</p><iframe src='https://www.youtube.com/embed/abcdefghijk?rel=0'"
        " title='Crossing'></iframe>",
        'href="https://www.youtube.com/watch?v=abcdefghijk"',
    ),
    "sound": (f"<p>{TEXT}</p><audio controls src='/bell.mp3'></audio>", 'src="https://news.example/bell.mp3"'),
    "a formula": (f"<p>{TEXT}<math><mi>x</mi><mo>=</mo><mn>1</mn></math></p>", "<mi>x</mi>"),
    "ruby": (f"<p>{TEXT}<ruby>川<rt>かわ</rt></ruby></p>", "<rt>かわ</rt>"),
    "direction and language": (f"<p dir='rtl' lang='ar'>{'مرحبا بكم في العبارة ' * 12}</p>", 'dir="rtl"'),
    "a footnote": (
        f"<p>{TEXT}<a href='#fn1'>1</a></p><p id='fn1'>{TEXT}</p>",
        'href="#a-fn1"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_it_is_kept(name: str) -> None:
    inner, expected = KEPT[name]
    content = content_of(article(inner))
    assert expected in content
    assert "First words" in content
    assert "Last words" in content


REMOVED = {
    "the repeated title": ("", "<h1>"),
    "the menu": ("", "Home"),
    "the footer": ("", "All rights"),
    "share links": (f"<p>{TEXT}</p><div class='share-links'><a href='/x'>Share this</a></div>", "Share this"),
    "related articles": (
        f"<p>{TEXT}</p><aside class='related'><h3>Read also</h3><a href='/y'>The bridge</a></aside>",
        "The bridge",
    ),
    "signs of anchors": (
        f"<h2 id='noon'>At noon<a class='headerlink' href='#noon'>¶</a></h2><p>{TEXT * 3}</p>",
        "¶",
    ),
    "contents": (
        f"<div class='toc'><ul><li><a href='#a'>Part one</a></li></ul></div><p>{TEXT}</p>",
        "Part one",
    ),
    "a form": (f"<p>{TEXT}</p><form><input name='mail'><button>Sign up now</button></form>", "Sign up now"),
    "a script": (f"<p>{TEXT}</p><script>alert(1)</script>", "alert"),
    "a handler": (f"<p onclick='steal()'>{TEXT * 2}</p>", "steal"),
    "a script's address": (f"<p>{TEXT}<a href='javascript:steal()'>x</a></p>", "steal"),
    "a tracking pixel": (f"<p>{TEXT}</p><img src='https://t.example/p.gif' width='1' height='1'>", "p.gif"),
    "an unknown frame": (f"<p>{TEXT}</p><iframe src='https://ads.example/x'></iframe>", "ads.example"),
    "a style": (f"<p style='position:fixed'>{TEXT * 2}</p>", "position"),
}  # fmt: skip


REFERENCES = "<li><a href='https://a.example/'>Anna</a></li><li><a href='https://b.example/'>Bo</a></li>"
OWN_PAGES = "<li><a href='/bridge'>Bridge</a></li><li><a href='https://www.news.example/ford'>Ford</a></li>"
ENDINGS = {
    "references under a heading": (f"<h2>Links</h2><ul>{REFERENCES}</ul>", True),
    "a line that is a link to another site": ("<p>By <a href='https://b.example/'>Bo</a></p>", True),
    "pages of the same site": (f"<h2>Links</h2><ul>{OWN_PAGES}</ul>", False),
    "a list with a class of its own": (f"<ul class='friends'>{REFERENCES}</ul>", False),
    "shares": (f"<ul class='share'>{REFERENCES}</ul>", False),
    "shares without a name": (
        "<ul><li><a href='https://b.example/post?url=https%3A%2F%2Fnews.example%2F2026%2F'>Bo</a></li></ul>",
        False,
    ),
    "what stands behind a rule": (f"<hr><ul>{REFERENCES}</ul>", False),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_of_what_follows_the_last_words_only_references_stay(name: str) -> None:
    ending, is_kept = ENDINGS[name]
    content = content_of(f"<main><p>First words: {TEXT * 3}</p><p>Last words: {TEXT * 3}</p>{ending}</main>")
    assert "Last words" in content
    assert (">Bo</a>" in content or ">Bridge</a>" in content) == is_kept


def test_the_last_items_of_a_list_stay() -> None:
    items = "".join(f"<li>{number}: {TEXT}</li>" for number in range(3))
    content = content_of(f"<main><p>{TEXT * 4}</p><ul>{items}<li><a href='/ford'>A ford</a></li></ul></main>")
    assert 'href="https://news.example/ford"' in content


def test_links_between_lines_around_paragraphs_stay() -> None:
    lines = f"{TEXT * 3}<a href='/bells'>bells</a><br>"
    content = content_of(f"<main><div>{lines}<p>{TEXT * 3}</p>{TEXT}<a href='/end'>the end</a></div></main>")
    assert 'href="https://news.example/bells"' in content
    assert 'href="https://news.example/end"' in content


def test_a_short_article_keeps_its_structure() -> None:
    content = content_of("<main><article><h1>The ferry</h1><p>It is <b>late</b> today.</p></article></main>")
    assert "<b>late</b>" in content


@pytest.mark.parametrize("name", REMOVED)
def test_it_is_removed(name: str) -> None:
    inner, unwanted = REMOVED[name]
    content = content_of(article(inner))
    assert unwanted not in content
    assert "First words" in content


def test_line_numbers_beside_code_are_removed() -> None:
    gutter = "<td class='gutter'><pre>1\n2</pre></td>"
    code = "<td class='code'><pre>cast_off(boat)\nring_the_bell(times=2)\nwait_for_bicycles()</pre></td>"
    content = content_of(article(f"<p>{TEXT}</p><figure><table><tr>{gutter}{code}</tr></table></figure>"))
    assert "<table>" not in content
    assert "cast_off(boat)\nring_the_bell" in content


def test_a_cover_before_the_article_leads_it() -> None:
    cover = "<figure class='post-cover'><img src='/cover.jpg' width='1200' height='600'></figure>"
    content = content_of(
        f"<main>{cover}<div class='post-body'><p>{TEXT * 4}</p><p>At noon: {TEXT * 3}</p></div></main>"
    )
    assert content.index("cover.jpg") < content.index("The ferry crosses")


def test_the_base_element_counts() -> None:
    inner = f"<p>{TEXT}</p><p><img src='b.jpg'></p>"
    content = content_of(article(inner), "<base href='https://cdn.example/x/'>")
    assert "https://cdn.example/x/b.jpg" in content


def test_a_page_of_plain_text_is_paragraphs() -> None:
    page = extract_page(b"One <b>line.\n\nAnother.", url=URL, content_type="text/plain")
    assert page.content == "<p>One &lt;b&gt;line.</p><p>Another.</p>"


def test_a_very_long_text_is_paragraphs() -> None:
    content = content_of(article("".join(f"<p>{number} {TEXT * 20}</p>" for number in range(300))))
    assert content.startswith("<p>")
    assert content.count("<p>") > 250


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("//www.youtube-nocookie.com/embed/abcdefghijk", "https://www.youtube.com/watch?v=abcdefghijk"),
        ("https://player.vimeo.com/video/123?h=1", "https://vimeo.com/123"),
        ("https://tube.example/videos/embed/9c-1", "https://tube.example/videos/watch/9c-1"),
        ("https://www.youtube.com/embed/<script>", ""),
        ("https://maps.example/embed", ""),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_players_have_pages(address: str, page: str) -> None:
    assert embedded_page(address)[0] == page


def test_words_and_paragraphs() -> None:
    assert words_of("Ein Boot, 渡し船 ok") == ("ein", "boot", "渡", "し", "船", "ok")
    assert paragraphs("a & b\n\n<c>") == "<p>a &amp; b</p><p>&lt;c&gt;</p>"
