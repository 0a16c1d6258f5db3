"""Strategies on link graphs: PageRank by hand, orders by hand, the same order as the live queue."""

from __future__ import annotations

import gzip
import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.evaluation.comparison import compare, crawl_order
from crawler.frontier.graph import GraphError, graph_of, pagerank, read_site_history
from crawler.frontier.strategies import STRATEGIES, make_strategy

A, B, C, D = (f"http://{name}.example/" for name in "abcd")


def test_pagerank_of_a_ring_is_even_and_of_a_star_is_not() -> None:
    ring = graph_of("ring", {A: [B], B: [C], C: [A]}, [A])
    assert pagerank(ring) == pytest.approx([1 / 3] * 3)
    star = graph_of("star", {A: [D], B: [D], C: [D]}, [A])
    rank = dict(zip(star.names, pagerank(star), strict=True))
    # By hand: a, b and c have x each, d has x + 0.85 * 3 x, and all of it is 1.
    x = 1 / (4 + 0.85 * 3)
    assert [rank[A], rank[B], rank[C], rank[D]] == pytest.approx([x, x, x, x + 0.85 * 3 * x])


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=40))
def test_pagerank_is_a_distribution_and_every_strategy_reaches_the_same(pairs: list[tuple[int, int]]) -> None:
    links: dict[str, list[str]] = {}
    for source, target in pairs:
        links.setdefault(f"http://h{source % 3}.example/{source}", []).append(
            f"http://h{target % 3}.example/{target}"
        )
    graph = graph_of("any", links, [next(iter(links))])
    rank = pagerank(graph)
    assert rank.sum() == pytest.approx(1)
    assert (rank > 0).all()
    orders = [crawl_order(graph, make_strategy(name)) for name in STRATEGIES]
    assert len({frozenset(order) for order in orders}) == 1
    assert all(len(order) == len(set(order)) for order in orders)
    courses = compare(graph)
    assert all(course.share[-1] == pytest.approx(1) for course in courses)
    assert max(courses, key=lambda course: course.area).area == pytest.approx(courses[-1].area)


def test_orders_by_hand() -> None:
    # a links to one page of its own host and two of others: these score higher.
    links = {A: [f"{A}own", B, C], f"{A}own": [D], B: [], C: []}
    graph = graph_of("small", links, [A])
    order = [graph.names[page] for page in crawl_order(graph, make_strategy("link-score"))]
    # The other domains 0.44 each, the own page 0.22; its one link has the full 0.66, but is found last.
    assert order == [A, B, C, f"{A}own", D]
    assert [graph.names[p] for p in crawl_order(graph, make_strategy("breadth-first"))] == [
        A,
        f"{A}own",
        B,
        C,
        D,
    ]
    turns = [graph.names[p] for p in crawl_order(graph, make_strategy("host-round-robin"))]
    assert turns == [A, f"{A}own", B, C, D]


def test_opic_pays_cash_to_what_is_found_again() -> None:
    links = {A: [B, C], B: [D], C: [D, f"{A}x"], D: []}
    graph = graph_of("cash", links, [A])
    order = [graph.names[page] for page in crawl_order(graph, make_strategy("opic"))]
    # b and c hold 1/2 each; d gets 1/2 of b, then 1/4 of c before x has as much as 1/4.
    assert order == [A, B, C, D, f"{A}x"]


def test_a_graph_without_its_seed_is_refused() -> None:
    with pytest.raises(GraphError, match="no page is called"):
        graph_of("x", {A: [B]}, [D])


def history(path: Path, first: Any) -> Path:
    path.write_bytes(gzip.compress(json.dumps(first).encode() + b"\n{}"))
    return path


def test_the_command_reads_recorded_sites_and_draws(tmp_path: Path) -> None:
    pages = {"index.html": ["1", ["a.html", "b.html"]], "a.html": ["2", ["b.html"]], "b.html": ["3", []]}
    file = history(tmp_path / "site.jsonl.gz", {"week": 0, "top": "index.html", "pages": pages})
    out = StringIO()
    call_command("crawl_strategies", str(file), "--json", "--svg", str(tmp_path / "c.svg"), stdout=out)
    told = json.loads(out.getvalue())
    assert (told["graph"], told["pages"]) == ("site.jsonl.gz", 3)
    assert [course["strategy"] for course in told["strategies"]] == [*STRATEGIES, "oracle"]
    assert (tmp_path / "c.svg").read_text().startswith("<svg")
    call_command("crawl_strategies", str(file), stdout=out)
    assert "pages for 50%" in out.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"[]"), gzip.compress(b'{"top": "x", "pages": {}}'), gzip.compress(b"{")],
)
def test_what_is_no_recorded_site_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.jsonl.gz"
    file.write_bytes(content)
    with pytest.raises(GraphError, match=r"bad\.jsonl\.gz"):
        read_site_history(file)
    with pytest.raises(CommandError):
        call_command("crawl_strategies", str(file))


@pytest.mark.django_db
def test_the_command_wants_one_graph() -> None:
    for arguments in ([], ["--crawl", "999"], ["x.gz", "--crawl", "1"], ["no-such-file.gz"]):
        with pytest.raises(CommandError):
            call_command("crawl_strategies", *arguments)


def test_link_weights_are_felt() -> None:
    graph = graph_of("small", {A: [f"{A}own", B]}, [A])
    own_first = make_strategy("link-score", 0.1, 0.9)
    assert [graph.names[p] for p in crawl_order(graph, own_first)] == [A, f"{A}own", B]
    assert np.isfinite(pagerank(graph)).all()
