# ruff: noqa: E501 (documents stand as they come)
"""Markup of entries is safe to show, and reads well."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feeds.parsing import parse_feed
from feeds.parsing.markup import MAX_DEPTH, Sanitiser, plain_text

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
""".strip().splitlines()


class Inspector(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {
            "script",
            "style",
            "svg",
            "math",
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
        st.sampled_from([*ATTACKS, "<b>", "</b>", "<p>", "<table>", "</svg>", "<!--", "-->", "]]>", "<a b='"])
    )
)
def test_no_mixture_of_attacks_comes_through(pieces: list[str]) -> None:
    assert faults(Sanitiser().clean("".join(pieces), BASE)) == []


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
    html = Sanitiser().clean("<div>" * (3 * MAX_DEPTH) + "deep & down", BASE)
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
