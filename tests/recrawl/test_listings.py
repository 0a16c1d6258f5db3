"""Pages that should name new ones are found by where they stand and by what they link to."""

from __future__ import annotations

import pytest

from recrawl.methods.adaptive import Adaptive, Run
from recrawl.methods.listings import listings, naming_new
from recrawl.methods.reasons import reason
from recrawl.structure import SiteGraph
from recrawl.visiting.known_server import KnownServer, OpenVisit

TOP = "/index.html"
NEW = "/news/2014/06/post"
POSTS = [f"/news/2014/{month:02}/post" for month in range(1, 6)]
LINKS = {
    TOP: ["/about.html", "/news/index.html", "/archive.html", "/docs/a.html"],
    "/about.html": [TOP],
    "/archive.html": POSTS,
    "/docs/a.html": ["/docs/b.html", POSTS[0]],
    "/docs/b.html": [],
    "/news/index.html": ["/news/2014/index.html"],
    "/news/2014/index.html": POSTS,
    **{post: ["/docs/b.html"] for post in POSTS},
}


def test_indexes_above_and_pages_that_list_its_neighbours() -> None:
    graph = SiteGraph(TOP, {**LINKS, TOP: [*LINKS[TOP], NEW], NEW: []})
    assert listings(graph, {NEW}) == {TOP, "/news/index.html", "/news/2014/index.html", "/archive.html"}


def test_elsewhere_other_pages() -> None:
    new = "/docs/c.html"
    graph = SiteGraph(TOP, {**LINKS, TOP: [*LINKS[TOP], new], new: ["/docs/a.html", "/docs/b.html"]})
    assert listings(graph, {new}) == {TOP}  # one link to a neighbour is no list, and the new page is none
    assert listings(graph, set()) == set()


def test_paths_without_a_first_slash_are_the_same() -> None:
    new = NEW[1:]
    plain = {path[1:]: [link[1:] for link in links] for path, links in LINKS.items()}
    graph = SiteGraph(TOP[1:], {**plain, TOP[1:]: [*plain[TOP[1:]], new], new: []})
    assert listings(graph, {new}) == {
        "index.html", "news/index.html", "news/2014/index.html", "archive.html",
    }  # fmt: skip


def server() -> KnownServer:
    found = KnownServer(TOP)
    for path, links in LINKS.items():
        found.store(path, links, 0.0)
    return found


def test_adaptive_looks_where_a_new_page_should_be_named() -> None:
    """The top page has changed; once it leads to a page that is new."""
    index = "/news/2014/index.html"
    odds: list[dict[str, float]] = []
    for found in ([], [NEW]):
        site = server()
        visit = OpenVisit(1.0, 4.0, 1.0)
        links = [*site.pages[TOP].links, *found]
        visit.outcomes[TOP] = site.fetched(TOP, True, links, visit.now)
        for path in found:
            site.store(path, (), visit.now)
        run = Run(site, visit)
        odds.append(dict(zip(run.gates.paths, run.belief().change_odds.tolist(), strict=True)))
    assert odds[1][index] > 2 * odds[1]["/docs/b.html"]


def test_a_visit_says_so() -> None:
    site, visit = server(), OpenVisit(1.0, 4.0, 1.0)
    visit.outcomes[TOP] = site.fetched(TOP, True, [*LINKS[TOP], NEW], visit.now)
    assert naming_new(site, visit) == set()
    site.store(NEW, (), visit.now)
    naming = naming_new(site, visit)
    assert naming == {"/news/index.html", "/news/2014/index.html", "/archive.html"}
    assert reason("/archive.html", site, visit, naming) == "should name pages that are new"
    assert reason("/about.html", site, visit, naming) == f"{TOP} changed, which leads here"


def test_what_listings_show_tells_of_listings_alone() -> None:
    """That a page names another says nothing of the pages beside it."""
    site = server()
    visit = OpenVisit(1.0, 9.0, 3.0)
    visit.outcomes[TOP] = site.fetched(TOP, True, [*LINKS[TOP], NEW], visit.now)
    site.store(NEW, (), visit.now)
    before = Run(site, visit).belief()
    visit.outcomes["/archive.html"] = site.fetched("/archive.html", True, [*POSTS, NEW], visit.now)
    run = Run(site, visit)
    after, at = run.belief(), run.gates.number
    assert after.change_odds[at["/news/2014/index.html"]] > before.change_odds[at["/news/2014/index.html"]]
    assert after.change_odds[at["/about.html"]] == pytest.approx(before.change_odds[at["/about.html"]])


def test_where_listings_change_they_come_to_be_expected_to() -> None:
    site = server()
    seen = []
    for number in range(1, 7):
        visit = OpenVisit(float(number), 20.0, 10.0)
        new = f"/news/2014/0{number}/more"
        visit.outcomes[TOP] = site.fetched(TOP, True, [*LINKS[TOP], new], visit.now)
        site.store(new, (), visit.now)
        run = Run(site, visit)
        seen.append(float(run.belief().change_odds[run.gates.number["/news/2014/index.html"]]))
        listing = [*POSTS, new]
        visit.outcomes["/news/2014/index.html"] = site.fetched(
            "/news/2014/index.html", True, listing, visit.now
        )
        Adaptive().finish(site, visit)
    assert seen == sorted(seen)
    assert seen[-1] > 2 * seen[0]
