"""Depth, directories and the divisions A, B and C: the paper's figures, and what it leaves open."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recrawl.division import PageGroup, by_directory, by_links, groups_above
from recrawl.structure import SiteGraph, directories, is_index

# Figure 4: A, B, C in one directory, D, E, F in a second, G, H in a third.
FIGURE_4 = {
    "a/A": ["a/B", "a/C"],
    "a/B": ["d/D"],
    "a/C": ["d/F", "g/G"],
    "d/D": ["d/E"],
    "d/E": ["d/F"],
    "d/F": [],
    "g/G": ["g/H"],
    "g/H": [],
}


def graph(links: dict[str, list[str]], top: str = "") -> SiteGraph:
    return SiteGraph(top or next(iter(links)), links)


def test_figure_2_depth_is_the_shortest_path() -> None:
    links = {"A": ["B", "C"], "B": ["D"], "C": ["D", "E"], "D": ["F"], "E": ["A"], "F": [], "lost": ["A"]}
    assert graph(links).depth == {"A": 1, "B": 2, "C": 2, "D": 3, "E": 3, "F": 4}


def test_links_are_followed_eleven_times() -> None:
    chain = {f"p{n}": [f"p{n + 1}"] for n in range(20)}
    assert max(graph(chain).depth.values()) == 12


def test_links_to_nowhere_are_left_out() -> None:
    assert graph({"A": ["gone", "B"], "B": []}).depth == {"A": 1, "B": 2}
    assert graph({"B": []}, "A").depth == {}


def test_a_directory_of_one_index_page_is_a_page_of_its_parent() -> None:
    found = directories(
        ["index.html", "a/index.html", "b/", "c/x.html", "d/index.html", "d/y.html", "e/f/index.php"]
    )
    assert found == {
        "index.html": "", "a/index.html": "", "b/": "", "c/x.html": "c/", "d/index.html": "d/",
        "d/y.html": "d/", "e/f/index.php": "e/",
    }  # fmt: skip


def test_index_pages_by_their_names() -> None:
    assert [
        is_index(path)
        for path in ("", "a/", "a/index.de.html", "a/Default.aspx", "a/?x=/b", "/index.php?p=2")
    ] == [True] * 6
    assert not any(is_index(path) for path in ("a", "a/indexes.html", "a/my-index.html"))


def test_figure_3_division_by_directory() -> None:
    links = {"x/A": ["x/B", "x/C"], "x/B": ["x/D"], "x/C": ["y/E"], "x/D": [], "y/E": []}
    assert by_directory(graph(links)) == [
        PageGroup(("x/A",), ("x/B", "x/C", "x/D")),
        PageGroup(("y/E",), ()),
    ]


def test_pages_of_one_least_depth_are_all_tops() -> None:
    links = {"A": ["y/E", "y/F"], "y/E": ["y/G"], "y/F": [], "y/G": []}
    assert by_directory(graph(links))[1] == PageGroup(("y/E", "y/F"), ("y/G",))


def test_figure_4_division_by_links() -> None:
    assert by_links(graph(FIGURE_4)) == [
        PageGroup(("a/A",), ("a/B", "a/C")),
        PageGroup(("d/D",), ("d/E",)),
        PageGroup(("g/G",), ("g/H",)),
        PageGroup(("d/E",), ("d/F",)),
    ]


def test_figure_4_sites_above() -> None:
    drawn = graph(FIGURE_4)
    # A is above D and G; D, which links to E, is above E; nothing is above A.
    assert groups_above(drawn, by_links(drawn)) == [set(), {0}, {0}, {1}]


def test_pages_that_no_top_links_to_go_to_their_shallowest_parent() -> None:
    links = {"A": ["d/D"], "d/D": ["d/E"], "d/E": ["d/F"], "d/F": ["d/G"], "d/G": []}
    assert by_links(graph(links))[1:] == [
        PageGroup(("d/D",), ("d/E",)),
        PageGroup(("d/E",), ("d/F",)),
        PageGroup(("d/F",), ("d/G",)),
    ]


def test_childless_pages_without_a_parent_go_to_their_directory_s_top() -> None:
    links = {"A": ["d/D", "d/X"], "d/D": ["d/E"], "d/E": [], "d/X": []}
    assert PageGroup(("d/D",), ("d/E", "d/X")) in by_links(graph(links))


def test_a_directory_of_childless_pages_has_its_shallowest_as_top() -> None:
    links = {"A": ["d/D", "d/E", "B"], "B": ["d/F"], "d/D": [], "d/E": [], "d/F": []}
    assert by_links(graph(links)) == [PageGroup(("A",), ("B",)), PageGroup(("d/D",), ("d/E", "d/F"))]


def test_the_top_page_alone_is_a_site() -> None:
    assert by_links(graph({"A": []})) == [PageGroup(("A",), ())]
    assert by_links(graph({"B": []}, "A")) == []


PATHS = st.sampled_from(
    [f"{directory}{name}" for directory in ("", "a/", "a/b/", "c/") for name in ("index.html", "x", "y")]
)


@given(st.dictionaries(PATHS, st.lists(PATHS, max_size=6), min_size=1))
def test_every_page_is_in_some_site_of_every_division(links: dict[str, list[str]]) -> None:
    drawn = graph(links)
    for division in (by_directory(drawn), by_links(drawn)):
        assert {page for site in division for page in (*site.tops, *site.members)} == set(drawn.depth)
        tops = [top for site in division for top in site.tops]
        assert len(tops) == len(set(tops))
        assert all(not set(site.tops) & set(site.members) for site in division)
