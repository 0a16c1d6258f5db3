"""Small directories are counted with those above them."""

from __future__ import annotations

import tracemalloc
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from recrawl.methods.adaptive import Adaptive, Run
from recrawl.methods.gates import gates_of
from recrawl.methods.listings import listings
from recrawl.methods.sections import MIN_PAGES, sections
from recrawl.structure import MAX_LEVELS, SiteGraph, parent_directory, shallow
from recrawl.visiting.known_server import KnownServer, OpenVisit

POSTS = [f"news/2014/{month:02}/{day:02}/post/index.html" for month in (1, 2, 3) for day in (5, 9, 20)]
NAMES = st.lists(st.sampled_from("ab"), max_size=4).map(lambda parts: "".join(f"{part}/" for part in parts))


def visit(server: KnownServer, number: float, outcomes: dict[str, bool]) -> OpenVisit:
    """A visit that has fetched these pages, changed or not, and is not over."""
    made = OpenVisit(number, 5.0, 5.0)
    for path, changed in outcomes.items():
        made.outcomes[path] = server.fetched(path, changed, server.pages[path].links, number)
    return made


def quiet(server: KnownServer, *numbers: int) -> None:
    """Visits that fetch the home page alone, which is as stored."""
    for number in numbers:
        Adaptive().finish(server, visit(server, float(number), {"index.html": False}))


def test_articles_in_directories_of_their_own_belong_together() -> None:
    posts = [f"news/2014/{day:02}/" for day in range(MIN_PAGES)]
    others = ["news/", "news/2013/01/", "docs/"]
    found = sections([*posts, *others, *["api/"] * MIN_PAGES, *["api/old/"] * 2])
    assert {found[name] for name in posts} == {"news/2014/"}
    assert {name: found[name] for name in others} == {"news/": "", "news/2013/01/": "", "docs/": ""}
    assert (found["api/"], found["api/old/"]) == ("api/", "api/")


def test_roots_are_sections_however_small() -> None:
    assert sections(["/", "/a/", "/a/b/"]) == dict.fromkeys(["/", "/a/", "/a/b/"], "/")
    assert sections(["", "a/"]) == {"": "", "a/": ""}
    assert sections([]) == {}


def test_a_directory_is_looked_at_so_far_and_no_further() -> None:
    assert shallow("/a/b/") == "/a/b/"
    assert shallow("a/" * MAX_LEVELS) == "a/" * MAX_LEVELS
    assert shallow("a/" * 1000) == "a/" * MAX_LEVELS
    assert (shallow(""), shallow("/")) == ("", "/")


@given(st.lists(NAMES, max_size=80), st.booleans())
def test_each_is_in_one_above_or_itself_and_only_roots_are_small(names: list[str], slash: bool) -> None:
    names = [f"/{name}" for name in names] if slash else names
    found = sections(names)
    assert set(found) == set(names)
    for name, section in found.items():
        assert name.startswith(section)
        between = name
        while between != section:  # what lies between is in the same section
            assert found.get(between, section) == section
            between = parent_directory(between)
    sizes = Counter(found[name] for name in names)
    assert all(size >= MIN_PAGES for section, size in sizes.items() if section.strip("/"))


def blog() -> KnownServer:
    """A home page that links to nine articles, each in a directory of its own, and to as many documents."""
    server = KnownServer("index.html")
    names = [*POSTS, *(f"docs/{n}.html" for n in range(9))]
    server.store("index.html", names, 0.0)
    for name in names:
        server.store(name, (), 0.0)
    return server


def test_the_top_page_is_a_section_of_its_own() -> None:
    gates = gates_of(blog().graph)
    named = {path: gates.sections[number] for path, number in zip(gates.paths, gates.section, strict=True)}
    assert {named[path] for path in POSTS} == {"news/2014/"}
    assert named["docs/0.html"] == "docs/"
    assert [path for path in named if named[path] == named["index.html"]] == ["index.html"]


def test_paths_as_deep_as_urls_can_be_take_little_memory() -> None:
    """Directories of hundreds of levels, no two of them shared: all that lie above would be gigabytes."""
    pages = [f"/{n}/{'/'.join(map(str, range(500)))}/" for n in range(1000)]
    links = {"/": pages, **dict.fromkeys(pages, ())}
    graph = SiteGraph("/", links)
    tracemalloc.start()
    gates = gates_of(graph)
    named = listings(graph, set(pages[::2]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
    assert "/" in gates.sections
    assert "/" in named


def test_what_articles_show_tells_of_other_articles() -> None:
    """Three of nine have changed unseen some time ago: the others are suspect, documents less."""
    server = blog()
    quiet(server, 1, 2, 3, 4)
    number = gates_of(server.graph).number
    before = Run(server, visit(server, 5.0, {"index.html": False})).belief().sound
    shown = {"index.html": False, **dict.fromkeys(POSTS[::3], True)}
    belief = Run(server, visit(server, 5.0, shown)).belief()
    after, change = belief.sound, belief.change_odds
    post, document = number[POSTS[1]], number["docs/3.html"]
    assert 1 - after[post] > 2 * (1 - before[post])
    assert 1 - after[post] * (1 - change[post]) > 2 * (1 - after[document] * (1 - change[document]))
