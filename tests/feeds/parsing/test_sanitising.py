# ruff: noqa: E501 (documents stand as they come)
# ruff: noqa: E501 (documents stand as they come)
"""Markup of entries is safe to show, and reads well."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.feeds import parse_feed
from crawler.reading.feeds.markup import Sanitiser, plain_text
from crawler.reading.limits import LIMITS

MATH = {
    "math",
    "mrow",
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "mspace",
    "mfrac",
    "msqrt",
    "mroot",
    "mstyle",
    "merror",
    "mpadded",
    "mphantom",
    "msub",
    "msup",
    "msubsup",
    "munder",
    "mover",
    "munderover",
    "mmultiscripts",
    "mprescripts",
    "none",
    "mtable",
    "mtr",
    "mtd",
    "menclose",
    "mfenced",
    "semantics",
}
BASE = "https://example.org/posts/1"
ALLOWED_URL = re.compile(r"https?://|mailto:")

ATTACKS = """
<script>alert(1)</script>
<img src=x onerror=alert(1)>
<a href="javascript:alert(1)">x</a>
<a href=" java&#10;script:alert(1)">x</a>
<a href="data:text/html,<script>alert(1)</script>">x</a>
<a href="vbscript:x">x</a><img src="data:image/svg+xml,<svg onload=alert(1)>"><img src="mailto:a@b.example">
<img srcset="javascript:x 1x" src="/ok.png"><picture><source srcset="//evil.example/x"></picture>
<svg><script>alert(1)</script></svg><svg onload=alert(1)>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">
<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>
<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">
<noscript><p title="</noscript><img src=x onerror=alert(1)>">
<iframe src="https://evil.example/"></iframe><object data=x></object><embed src=x>
<p style="background:url(javascript:x)" class=c id=i onclick=x>text</p><style>p{}</style>
<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=x"><link rel=stylesheet href=x>
<input autofocus onfocus=x><button formaction="javascript:x">b</button><textarea></textarea><select><option>
<video src=x onerror=alert(1)></video><audio src=x></audio><details ontoggle=x open>d</details>
<table background="javascript:x"><tr><td>c</table><body onload=x><html onx=y><plaintext>
<a href="https://ok.example/" target=_blank rel=opener>x</a><a href="//evil.example" ping=x>y</a>
<xmp><p title="</xmp><img src onerror=alert(1)>"><title><img src=x onerror=y></title><!--><img src=x onerror=y>-->
<template><script>x</script></template><blockquote cite="javascript:x">q</blockquote><q cite=data:x>r</q>
<math><mi>x</mi><mtext><img src=x onerror=alert(1)></mtext></math><math href="javascript:x"><mi>y</mi></math>
<math><semantics><mi>x</mi><annotation-xml encoding="text/html"><img src=x onerror=y></annotation-xml></semantics></math>
<math><maction actiontype="statusline" xlink:href="javascript:x"><mi>x</mi></maction></math><math><mi>q<!--</mi>--></math>
<math><mi>a</mi><p><mi>b</mi></math><p><math><mn>1</mn></p><b><math><math><mi>x</mi></math></math><table><math><mi>z</mi>
<math><mi>x</mi><style><img src=x onerror=alert(1)></style></math><svg><math><mi>x</mi></math><desc><math><mi>y
<img data-src="javascript:alert(1)"><img srcset="javascript:x 2x, data:text/html,x 3x"><noscript><img data-src=x onerror=y></noscript>
<iframe src="javascript:x"/><img src=x onerror=y><script/>alert(1)</script><style/><!--</style><img src=x onerror=y>-->
""".strip().splitlines()


class Inspector(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.open: list[str] = []

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(tag) :]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        formula = "math" in self.open
        if (tag in MATH) != (formula or tag == "math") or (formula and tag == "math"):
            self.faults.append(f"{tag} inside or outside of a formula")
        if self.open and self.open[-1] in {"mi", "mn", "mo", "ms", "mtext"}:
            self.faults.append(f"{tag} in the text of a formula")
        if tag not in {"br", "hr", "img", "wbr", "col"}:
            self.open.append(tag)
        if tag in {
            "annotation",
            "annotation-xml",
            "maction",
            "mglyph",
            "script",
            "style",
            "svg",
            "iframe",
            "form",
            "object",
            "embed",
            "base",
            "meta",
            "input",
        }:
            self.faults.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name in {
                "style",
                "srcset",
                "class",
                "id",
                "target",
                "ping",
                "background",
            }:
                self.faults.append(f"{tag} {name}")
            if name in {"href", "src", "cite"} and not ALLOWED_URL.match(value or ""):
                self.faults.append(f"{tag} {name}={value}")
            if tag == "img" and name == "src" and (value or "").startswith("mailto:"):
                self.faults.append("mail image")
        if tag == "a" and dict(attrs).get("rel") != "noopener noreferrer nofollow":
            self.faults.append("a without rel")


def faults(html: str) -> list[str]:
    inspector = Inspector()
    inspector.feed(html)
    inspector.close()
    return inspector.faults


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_active_comes_through(attack: str) -> None:
    assert faults(Sanitiser().clean(attack, BASE)) == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_active_comes_through_the_way_of_long_markup(attack: str) -> None:
    html = Sanitiser().clean("<p>one</p>" * 300 + attack, BASE)
    assert faults(html) == [] and html.startswith("<p>one</p>")


@given(
    st.lists(
        st.sampled_from(
            [
                *ATTACKS,
                "<b>",
                "</b>",
                "<p>",
                "<table>",
                "</svg>",
                "<!--",
                "-->",
                "]]>",
                "<a b='",
                "<math>",
                "</math>",
                "<mi>",
                "</mi>",
                "<mtext>",
                "a &lt;b>",
                "<noscript>",
                "</noscript>",
            ]
        )
    )
)
def test_no_mixture_of_attacks_comes_through(pieces: list[str]) -> None:
    once = Sanitiser().clean("".join(pieces), BASE)
    assert faults(once) == []
    assert faults(Sanitiser().clean(once, BASE)) == []


def test_no_image_is_moved_into_a_formula_between_two_parsers() -> None:
    """lxml closes the second form's elements elsewhere than html5ever does."""
    markup = (
        "<svg><script>alert(1)</script></svg><svg onload=alert(1)>"
        "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>"
        "<math><mi>x</mi><mtext><img src=x onerror=alert(1)></mtext></math>"
        '<math href="javascript:x"><mi>y</mi></math>'
    )
    clean = Sanitiser().clean(markup, BASE)
    assert faults(clean) == []
    assert "<math><mi>x</mi><msup><mi>y</mi><mn>2</mn></msup></math>" in Sanitiser().clean(
        "<p>So <math><mi>x</mi><msup><mi>y</mi><mn>2</mn></msup></math> holds</p>", BASE
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_sanitised_markup_stays_as_it_is_when_sanitised_again(attack: str) -> None:
    once = Sanitiser().clean(attack, BASE)
    assert Sanitiser().clean(once, BASE) == once


def test_addresses_become_absolute() -> None:
    html = Sanitiser().clean(
        '<a href="../x">a</a><a href="#n">b</a><img src="//cdn.example/i.png"><img src="i.png">', BASE
    )
    assert re.findall(r'(?:href|src)="([^"]*)"', html) == [
        "https://example.org/x",
        "https://example.org/posts/1#n",
        "https://cdn.example/i.png",
        "https://example.org/posts/i.png",
    ]


def test_what_people_read_is_kept() -> None:
    html = '<h2>T</h2><p lang="de">a <em>b</em> <code>c</code></p><table><tbody><tr><td colspan="2">d</td></tr></tbody></table>'
    assert Sanitiser().clean(html, BASE) == html


def test_markup_that_is_nested_too_deeply_keeps_its_text() -> None:
    html = Sanitiser().clean("<div>" * (3 * LIMITS.markup_depth) + "deep & down", BASE)
    assert html == "deep &amp; down"


def test_text_is_the_fuller_of_summary_and_content_without_markup() -> None:
    body = b"""<rss xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><item><guid>1</guid>
    <description>&lt;p>The whole &amp;amp; long&lt;br>story&lt;/p>&lt;ul>&lt;li>one&lt;/li>&lt;li>t&lt;b>w&lt;/b>o&lt;/li></description>
    <content:encoded>&lt;p>The&lt;/p></content:encoded></item></channel></rss>"""
    (entry,) = parse_feed(body, url=BASE).entries
    assert entry.text == "The whole & long\nstory\none\ntwo"


def test_plain_text_is_not_fooled_by_attributes() -> None:
    assert plain_text('a <a href="x" title="b > c">d</a> &lt;e&gt;') == "a d <e>"


def test_markup_between_tags_in_the_feed_itself_is_read_too() -> None:
    body = b"<rss><channel><item><guid>1</guid><description>a <b>bold</b><script>x</script> word</description></item></channel></rss>"
    assert parse_feed(body, url=BASE).entries[0].summary == "a <b>bold</b> word"


@pytest.mark.parametrize(
    "name", ["iframe", "script", "style", "noscript", "textarea", "title", "object", "IFRAME"]
)
@pytest.mark.parametrize("end", ["/>", " />", " src='x'/>", " src=x/>", ' title="a" />'])
def test_elements_closed_in_their_own_tag_swallow_nothing(name: str, end: str) -> None:
    assert Sanitiser().clean(f"<p>a</p><{name}{end}<p>rest</p>", BASE) == "<p>a</p><p>rest</p>"


@pytest.mark.parametrize(
    "image",
    [
        '<img data-src="real.jpg">',
        '<img src="data:image/gif;base64,R0lGOD" data-src="/posts/real.jpg">',
        '<img src="blank.gif" data-lazy-src="real.jpg">',
        '<img src="blank.gif" data-original="real.jpg" class=lazy>',
        '<img srcset="small.jpg 320w, real.jpg 1200w,mid.jpg 640w">',
        '<img src="data:," srcset="small.jpg, real.jpg 2x">',
        '<img src="blank.gif" data-srcset="small.jpg 1x,real.jpg 2x">',
        '<picture><source srcset="real.jpg"><img></picture>',
        '<noscript><img src="real.jpg"></noscript>',
        '<img data-src="real.jpg"><noscript><img src="real.jpg" width=1></noscript>',
        '<noscript>x<noscript><noscript><img src="real.jpg"></noscript></noscript></noscript>',
        '<noscript><p>Turn it on</p><img src="real.jpg"> please</noscript>',
    ],
)
def test_lazy_images_are_shown_once_and_by_their_address(image: str) -> None:
    html = Sanitiser().clean(f"<p>a {image} b</p>", BASE)
    assert re.findall(r'src="([^"]*)"', html) == ["https://example.org/posts/real.jpg"]
    assert plain_text(html) == "a b"


@pytest.mark.parametrize(
    "image", ['<img data-src="lots of words">', '<img srcset=",,, 2x 3w">', '<img srcset="2x">', "<img>"]
)
def test_images_without_an_address_get_none(image: str) -> None:
    assert "src" not in Sanitiser().clean(image, BASE)


FORMULA = '<math display="block"><msup><mi>x</mi><mn>2</mn></msup><mo>&lt;</mo><mspace width="1em"></mspace><mtext>a &amp; b</mtext></math>'


def test_formulas_are_kept() -> None:
    assert Sanitiser().clean(f"<p>{FORMULA} and</p>", BASE) == f"<p>{FORMULA} and</p>"
    assert plain_text(FORMULA) == "x2<a & b"


def test_formulas_lose_annotations_and_what_is_none_of_theirs() -> None:
    given = (
        '<mml:math class="c" onclick="x" xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mi style="x">y</mi>'
        '<annotation encoding="application/x-tex">y</annotation></semantics></mml:math>'
    )
    assert Sanitiser().clean(given, BASE) == "<math><semantics><mi>y</mi></semantics></math>"


def test_formulas_in_xhtml_of_a_feed_are_kept() -> None:
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><content type="xhtml">
    <div xmlns="http://www.w3.org/1999/xhtml"><m:math xmlns:m="http://www.w3.org/1998/Math/MathML"><m:mi>x</m:mi><m:mspace/>
    <m:mo>+</m:mo></m:math></div></content></entry></feed>"""
    assert "<math><mi>x</mi><mspace></mspace>" in parse_feed(body, url=BASE).entries[0].content


MANY = " ".join(f"a{n}=1" for n in range(LIMITS.attributes + 1))


@pytest.mark.parametrize(
    "tag",
    [
        f"<a {MANY}>",
        f'<a b"c d=">" {MANY}>',
        f"<a x='<' {MANY}>",
        f"<a x='>' {MANY}>",
        f"<a\n{MANY}/>",
        f"<a {MANY.replace('=1', '')}>",
    ],
)
def test_tags_with_too_many_attributes_are_text_however_they_are_written(tag: str) -> None:
    safe = Sanitiser().clean(f"<p>{'word ' * 500}</p>{tag}shown</a><p>after</p>", "https://example.org/")
    assert "<" not in safe
    assert "shown" in safe


def test_characters_that_references_stand_for_are_storable() -> None:
    assert Sanitiser().clean("<p>a&#1;b&#x80;c&#xFFFE;</p>", "https://example.org/") == "<p>ab€c</p>"
