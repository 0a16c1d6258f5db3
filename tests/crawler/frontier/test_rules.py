"""The pure rules of the frontier: link score, strategies, budgets, scope, domains, causes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.failures import Failure
from crawler.fetching.http.domains import host_of, registrable_domain, top_level_domain
from crawler.frontier.budgets import Budgets, pattern, shape_refusal, without_session
from crawler.frontier.causes import cause
from crawler.frontier.scope import Scope, ScopeError
from crawler.frontier.score import link_scores
from crawler.frontier.strategies import STRATEGIES, Parent, make_strategy

COUNTS = st.integers(0, 10_000)
PAPER = {
    "404": 30.97,
    "403": 19.67,
    "503": 5.83,
    "other HTTP": 8.38,
    "unsupported MIME type": 21.68,
    "timeout": 2.73,
    "unknown": 10.75,
}
"""Per cent of the uncrawled pages of Baker and Akcayol's crawl (table I)."""


def test_the_papers_worked_example() -> None:
    scores = link_scores(5, 2)
    assert (round(scores.inter, 4), round(scores.intra, 4)) == (0.4714, 0.2357)


def test_a_page_without_links_scores_nothing() -> None:
    assert link_scores(0, 0) == link_scores(0, 0).__class__(0.0, 0.0)


@pytest.mark.parametrize(("inter", "intra"), [(-1, 0), (0, -1)])
def test_there_are_no_negative_links(inter: int, intra: int) -> None:
    with pytest.raises(ValueError, match="a page has no"):
        link_scores(inter, intra)


@given(COUNTS, COUNTS)
def test_scores_lie_between_half_and_the_whole_weight(inter: int, intra: int) -> None:
    scores = link_scores(inter, intra)
    if inter + intra:
        assert 0.33 - 1e-12 <= scores.inter <= 0.66
        assert 0.165 - 1e-12 <= scores.intra <= 0.33


@given(COUNTS, COUNTS)
def test_only_the_balance_counts_not_which_class_is_the_larger(inter: int, intra: int) -> None:
    assert link_scores(inter, intra) == link_scores(intra, inter)


@given(st.integers(1, 10_000))
def test_links_of_one_class_alone_have_its_full_weight(number: int) -> None:
    assert link_scores(number, 0).inter == pytest.approx(0.66)
    assert link_scores(0, number).intra == pytest.approx(0.33)


@given(COUNTS, COUNTS, st.floats(0, 1), st.floats(0, 1))
def test_weights_are_settings(inter: int, intra: int, a: float, b: float) -> None:
    scores, plain = link_scores(inter, intra, a, b), link_scores(inter, intra, 1, 1)
    assert scores.inter == pytest.approx(plain.inter * a)
    assert scores.intra == pytest.approx(plain.intra * b)


def test_strategies_order_as_they_are_called() -> None:
    parent = Parent(depth=2, score=0.5, inter=1, intra=3)
    assert make_strategy("breadth-first").links(parent).inter == -3
    assert make_strategy("breadth-first").seed(9) == 0
    assert make_strategy("opic").links(parent).intra == pytest.approx(0.125)
    assert make_strategy("opic").seed(4) == 0.25
    assert make_strategy("host-round-robin").by_turns
    assert make_strategy("link-score", 1.0, 0.0).links(parent).intra == 0
    assert [STRATEGIES[name]().name for name in STRATEGIES] == list(STRATEGIES)
    with pytest.raises(ValueError, match="there is no strategy 'depth-first'"):
        make_strategy("depth-first")


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50))
def test_opic_neither_makes_nor_loses_cash(seeds: int, inter: int, intra: int) -> None:
    opic = make_strategy("opic")
    cash = opic.seed(seeds)
    paid = opic.links(Parent(0, cash, inter, intra))
    if inter + intra:
        assert inter * paid.inter + intra * paid.intra == pytest.approx(cash)


@pytest.mark.parametrize(
    ("host", "domain", "top"),
    [
        ("www.example.co.uk", "example.co.uk", "uk"),
        ("a.b.example.org", "example.org", "org"),
        ("me.github.io", "me.github.io", "io"),
        ("co.uk", "co.uk", "uk"),
        ("localhost", "localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1", "address"),
        ("2001:db8::1", "2001:db8::1", "address"),
        ("www.ck", "www.ck", "ck"),
        ("xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn", "cn"),
    ],
)
def test_registrable_domains(host: str, domain: str, top: str) -> None:
    assert registrable_domain(host) == domain
    assert top_level_domain(domain) == top


def test_the_host_of_a_url() -> None:
    assert host_of("https://[2001:db8::1]:8443/a") == "2001:db8::1"
    assert host_of("http://example.org:81/") == "example.org"


@pytest.mark.parametrize(
    ("url", "depth", "cause"),
    [
        ("http://a.example/", 0, ""),
        ("http://a.example/" + "x" * 2000, 0, "length"),
        ("http://a.example/deep", 101, "depth"),
        ("http://a.example/a/b/a/b/a/b/a/b", 1, "repeats"),
        ("http://a.example/2026/11/21/11", 1, ""),
        ("http://a.example/?" + "&".join(f"p{i}={i}" for i in range(13)), 1, "parameters"),
    ],
)
def test_shapes_of_traps_are_refused(url: str, depth: int, cause: str) -> None:
    assert shape_refusal(url, depth, Budgets()) == cause


def test_endless_families_of_urls_are_one_pattern() -> None:
    months = {
        pattern(f"http://a.example/calendar/{year}/{month}?view={month}")
        for year in range(1990, 2090)
        for month in range(1, 13)
    }
    assert months == {"http://a.example/calendar/0/0?view"}
    assert pattern("http://a.example/x?b=1&a=2") == pattern("http://a.example/x?a=7&b=9")
    assert pattern("http://a.example/x") != pattern("http://b.example/x")


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("http://a.example/p;jsessionid=0AF3?x=1", "http://a.example/p?x=1"),
        ("http://a.example/?PHPSESSID=abc&id=7", "http://a.example/?id=7"),
        ("http://a.example/?sid=1", "http://a.example/"),
        ("http://a.example/?inside=1", "http://a.example/?inside=1"),
    ],
)
def test_session_ids_are_left_out(url: str, plain: str) -> None:
    assert without_session(url) == plain


def test_scopes() -> None:
    assert Scope([]).allows("http://anything.example/")
    scope = Scope([r"^https?://a\.example/", r"\.pdf$"])
    assert scope.allows("http://a.example/x")
    assert scope.allows("http://b.example/y.pdf")
    assert not scope.allows("http://b.example/a.example/")


@pytest.mark.parametrize("expression", ["(", "[a", "x" * 1001])
def test_an_expression_that_is_none_is_named(expression: str) -> None:
    with pytest.raises(ScopeError):
        Scope([expression])


def test_an_expression_that_takes_for_ever_does_not_match() -> None:
    scope = Scope([r"^(a+)+$"])
    started = time.thread_time()
    assert not scope.allows("a" * 40 + "!")
    assert time.thread_time() - started < 2


def test_every_failure_has_a_cause_of_the_paper_or_is_robots() -> None:
    labels = [failure.value for failure in Failure if not failure.value.startswith("http-")]
    labels += ["http-403", "http-404", "http-500", "http-503", "http-418"]
    assert {cause(label) for label in labels} <= {*PAPER, "robots"}
    assert cause("http-404") == "404"
    assert cause("http-500") == "other HTTP"
    assert cause("too-slow") == "timeout"
    assert cause("dns") == "unknown"
    assert sum(PAPER.values()) == pytest.approx(100, abs=0.02)
