"""URLs: one spelling each, and nothing that two parsers read differently."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.failures import Failure
from crawler.fetching.http import urls
from crawler.fetching.http.urls import MAX_URL_LENGTH, BadUrl, canonical_url, host_key, join, origin, page_key

CANONICAL = [
    ("HTTP://ExAmple.COM", "http://example.com/"),
    ("http://example.com:80/a", "http://example.com/a"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("https://example.com:80/a", "https://example.com:80/a"),
    ("http://example.com/a#part", "http://example.com/a"),
    ("http://example.com./a", "http://example.com/a"),
    ("http://example.com/a/./b/../c", "http://example.com/a/c"),
    ("http://example.com/%2e%2e/c", "http://example.com/c"),
    ("http://example.com/%7Euser/%c3%bc%41", "http://example.com/~user/%C3%BCA"),
    ("http://example.com/a%2Fb?q=%2f%zz", "http://example.com/a%2Fb?q=%2F%zz"),
    ("http://example.com/ü?ü", "http://example.com/%C3%BC?%C3%BC"),
    ("http://münchen.example/", "http://xn--mnchen-3ya.example/"),
    ("http://example。com/", "http://example.com/"),
    (" http://example.com/a\tb\n", "http://example.com/ab"),
    ("http:\\\\example.com\\a", "http://example.com/a"),
    ("http://example.com\\@127.0.0.1/", "http://example.com/@127.0.0.1/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://0177.0.0.1/", "http://127.0.0.1/"),
    ("http://127.1/", "http://127.0.0.1/"),
    ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
    ("http://0/", "http://0.0.0.0/"),
    ("http://[0:0::1]:8080/", "http://[::1]:8080/"),
    ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
    ("feed://example.com/rss", "http://example.com/rss"),
    ("feed:https://example.com/rss", "https://example.com/rss"),
    ("example.com/rss", "http://example.com/rss"),
    ("//example.com/rss", "http://example.com/rss"),
    ("example.com:8080/rss", "http://example.com:8080/rss"),
    ("127.0.0.1:8800", "http://127.0.0.1:8800/"),
    ("http://example.com/?utm_source=x", "http://example.com/?utm_source=x"),
]


@pytest.mark.parametrize(("given_url", "expected"), CANONICAL)
def test_it_spells_a_url_canonically(given_url: str, expected: str) -> None:
    assert canonical_url(given_url) == expected
    assert canonical_url(expected) == expected


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("", Failure.BAD_URL),
        ("http://", Failure.BAD_URL),
        ("http://exa mple.com/", Failure.BAD_URL),
        ("http://example.com:99999/", Failure.BAD_URL),
        ("http://a..b/", Failure.BAD_URL),
        ("http://[fe80::1%25eth0]/", Failure.BAD_URL),
        ("http://user@example.com/", Failure.BAD_URL),
        ("http://user:pass@example.com/", Failure.BAD_URL),
        ("http://example.com@127.0.0.1/", Failure.BAD_URL),
        ("http://example.com/" + "a" * MAX_URL_LENGTH, Failure.BAD_URL),
        ("http://example.com/\ud800" + "a" * 100_000, Failure.BAD_URL),
        ("ftp://example.com/", Failure.BAD_SCHEME),
        ("file:///etc/passwd", Failure.BAD_SCHEME),
        ("gopher://example.com:70/1", Failure.BAD_SCHEME),
        ("data:text/html,x", Failure.BAD_SCHEME),
        ("javascript:alert(1)", Failure.BAD_SCHEME),
        ("mailto:a@example.com", Failure.BAD_SCHEME),
    ],
)
def test_it_refuses_what_is_no_web_address(url: str, kind: Failure) -> None:
    with pytest.raises(BadUrl) as caught:
        canonical_url(url)
    assert caught.value.kind is kind
    assert len(str(caught.value)) < 400


@given(st.text(max_size=60) | st.text(max_size=30).map("http://example.com/".__add__))
def test_the_canonical_form_is_a_fixed_point_and_nothing_else_is_raised(text: str) -> None:
    try:
        once = canonical_url(text)
    except BadUrl:
        return
    assert canonical_url(once) == once
    assert once.isascii()


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("../b?c", "https://example.com/b?c"),
        ("?c", "https://example.com/a/f?c"),
        ("", "https://example.com/a/f"),
        ("//other.example/x", "https://other.example/x"),
        ("http://other.example", "http://other.example/"),
        ("feed", "https://example.com/a/feed"),
        ("\\\\other.example\\x", "https://other.example/x"),
    ],
)
def test_it_joins_references(reference: str, expected: str) -> None:
    assert join("https://example.com/a/f", reference) == expected


def test_a_reference_to_another_scheme_is_refused() -> None:
    with pytest.raises(BadUrl, match="javascript"):
        join("https://example.com/", "javascript:alert(1)")


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://Example.com.:8080/", "example.com"),
        ("https://[::1]/", "::1"),
        ("http://127.0.0.1:1/", "127.0.0.1"),
    ],
)
def test_the_host_key_is_the_bare_host(url: str, key: str) -> None:
    assert host_key(url) == key


def test_the_origin_has_the_port_only_where_it_matters() -> None:
    assert origin("https://example.com/a?b") == "https://example.com"
    assert origin("https://example.com:8443/a") == "https://example.com:8443"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.com/a?utm_source=rss&utm_medium=feed", "http://example.com/a"),
        ("http://example.com/a?z=1&UTM_Source=rss&b=2&fbclid=x&gclid=y", "http://example.com/a?z=1&b=2"),
        ("http://example.com/a?id=1&a=2#frag", "http://example.com/a?id=1&a=2"),
        ("http://example.com/a?utm_social-type=organic&id=1", "http://example.com/a?id=1"),
        ("http://example.com/a?utmost=1&ref=2", "http://example.com/a?utmost=1&ref=2"),
        ("http://example.com/a?x=utm_source", "http://example.com/a?x=utm_source"),
    ],
)
def test_the_page_key_drops_only_tracking(url: str, key: str) -> None:
    assert page_key(url) == key


_PIECES = st.sampled_from(
    ["/", "//", "a", "b.example", ":80", ":8080", "?", "#x", "%41", "%2f", "..", ".", "@", "é", " ", "http:", "https://",
     "HTTP://B.Example", "[::1]", "&", "=", "\t", "b.", "127.1", "0x7f.1", "|", "^", "\\"]
)  # fmt: skip


@given(
    st.lists(_PIECES, max_size=7).map("".join),
    st.sampled_from(["http://a.example/x/y?z", "https://a.example:8443/"]),
)
def test_the_short_way_of_joining_says_what_the_long_one_does(reference: str, base: str) -> None:
    short = urls._plainly_joined(base, reference)
    if short:
        assert short == urls._canonical(reference, reference, base)
