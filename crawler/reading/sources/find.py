"""The lists of articles in a page that nobody has described: found by repeated structure, best first. Pure.

Links that stand in elements of the same kinds form a group; the largest element around each of them that
holds no other one of the group is its entry. A group becomes a list when its entries look like articles:
several words that differ, addresses on the same site, dates, headings, pictures, sentences below. Menus,
lists of tags, related articles and footers look like that less, and stand where their names say so.

The weights were chosen on half of the sites of a collection, and judged on the other half
(`benchmarks/lists.py`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from math import log10
from statistics import median
from typing import cast
from urllib.parse import urlsplit

from lxml import etree, html

from crawler.reading.addresses import absolute
from crawler.reading.documents import SourceRules
from crawler.reading.errors import ReadingError
from crawler.reading.limits import LIMITS
from crawler.reading.lines import SelectorFault, usable_selector
from crawler.reading.pages.tree import UNREAD
from crawler.reading.sources.entries import (
    HEADINGS,
    ChosenEntry,
    EntryReader,
    base_of,
    chosen_entries,
    line_of,
    order_of_days,
    with_neighbours,
)

MAX_LISTS = 8
MAX_LINKS = 20_000
"""Links of a page that are looked at."""
MAX_GROUPS = 60
"""Groups of links that are looked at closely, the largest first."""
_SAMPLE = 60
"""Entries of a list by which it is judged."""
MIN_SCORE = 3.5
# Classes that differ from entry to entry would make a rule for one of them alone.
_VARYING = re.compile(
    r"\d|^(?:odd|even|first|last|active|current|selected|sticky|featured|highlight|is-|has-|js-|wow|animate"
    r"|category-|tag-|type-|status-|format-|author-|post-(?:\d|id))",
    re.IGNORECASE,
)
_USABLE_CLASS = re.compile(r"-?[_a-zA-Z][\w-]*")
_ASIDE = re.compile(
    r"(?:^|[\s_-])(?:nav|navi|navbar|navigation|menu|submenu|breadcrumbs?|pagination|pager|paging|footer|foot|sidebar"
    r"|side|aside|widgets?|related|similar|recommend\w*|popular|trending|mostread|tag-?cloud|tags|taglist|tagcloud"
    r"|categories|blogroll|links|share|sharing|social|comments?|comment-?list|respond|toc|tableofcontents"
    r"|languages?|lang|cookie\w*|copyright|subscribe|ad|ads|banner|skip|toolbar|dropdown|login|search-?form"
    r"|partners?|sponsors?|recent-?(?:posts|comments|entries)|archives-?list|calendar)(?:$|[\s_-])",
    re.IGNORECASE,
)
_MAIN = re.compile(
    r"(?:^|[\s_-])(?:main|content|primary|posts?|articles?|entries|news|stories|blog|feed|list|archives?|stream"
    r"|timeline|results?)(?:$|[\s_-])",
    re.IGNORECASE,
)
_LISTING_ADDRESS = re.compile(
    r"/(?:tags?|categor(?:y|ies|ia|ie)|authors?|users?|members?|page|topics?|label|search|login|signin|register"
    r"|kategorien?|etiquetas?|schlagwort|autor|auteur|about|contact|privacy|terms|feed|rss)(?:/|$|\.html?$)",
    re.IGNORECASE,
)
_ENTRY_NAMES = frozenset({
    "article", "blog-post", "blogpost", "card", "entry", "h-entry", "hentry", "item", "list-item", "media",
    "news", "news-item", "post", "post-card", "post-entry", "post-item", "post-list-item", "post-preview",
    "story", "storylink", "summary", "teaser",
})  # fmt: skip
"""Classes by which themes name an article in a list."""
_SENTENCES = 15
"""Words from which a paragraph is one of a text."""
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class FoundList:
    """A list of articles in a page: its name, the rules that choose its entries, the entries, its score."""

    name: str
    rules: SourceRules
    entries: tuple[ChosenEntry, ...]
    score: float


def find_lists(root: html.HtmlElement, url: str) -> list[FoundList]:
    """Return the lists of articles in a page at `url`, the best first, at most MAX_LISTS."""
    page = _Page(root, url)
    scored: list[tuple[float, _Group]] = []
    for group in page.groups():
        score = _score(group, page)
        if score >= MIN_SCORE:
            scored.append((score, group))
    scored.sort(key=lambda pair: -pair[0])
    lists: list[FoundList] = []
    earlier_lists: list[set[str]] = []
    for score, group in scored:
        addresses = {entry.url for entry in group.entries}
        # The same articles are found by their titles and by their pictures; one list of them is enough.
        if any(len(addresses & earlier) * 2 > min(len(addresses), len(earlier)) for earlier in earlier_lists):
            continue
        earlier_lists.append(addresses)
        rules, entries = _rules_of(group, page)
        if len(entries) >= 2:
            lists.append(FoundList(_name_of(group), rules, tuple(entries), round(score, 2)))
        if len(lists) == MAX_LISTS:
            break
    return lists


def list_around(root: html.HtmlElement, url: str, element: html.HtmlElement) -> FoundList | None:
    """Return the list in which an element of a page at `url` stands, None if nothing around it repeats.

    It is one of those that are found by themselves, else the elements of one kind beside the lowest element
    around that has such neighbours with links.
    """
    above = {element, *element.iterancestors()}
    for candidate in find_lists(root, url):
        if any(node in above for node in _elements_of(root, candidate.rules)):
            return candidate
    page = _Page(root, url)
    for node in (element, *element.iterancestors()):
        parent = node.getparent()
        peers = [] if parent is None else [peer for peer in parent if peer.tag == node.tag]
        if len(peers) < 2 or 2 * sum(next(peer.iter("a"), None) is not None for peer in peers) < len(peers):
            continue
        pairs = list(with_neighbours(peers))
        group = _Group([peer for peer, _ in pairs], [beside for _, beside in pairs])
        rules, entries = _rules_of(group, page)
        if len(entries) >= 2:
            return FoundList(_name_of(group), rules, tuple(entries), 0.0)
    return None


def _elements_of(root: html.HtmlElement, rules: SourceRules) -> list[html.HtmlElement]:
    return cast("list[html.HtmlElement]", usable_selector(rules.entry)(root))


@dataclass(slots=True)
class _Link:
    """A link of the page with the text in it."""

    element: html.HtmlElement
    url: str
    text: str


@dataclass
class _Group:
    """Entries of one structure, with the elements beside each, and what was read from them."""

    elements: list[html.HtmlElement]
    beside: list[list[html.HtmlElement]]
    entries: list[ChosenEntry] = field(default_factory=list)


class _Page:
    """A page's links with their structure."""

    def __init__(self, root: html.HtmlElement, url: str) -> None:
        self.root, self.url = root, url
        self.base = base_of(root, url)
        self.host = _site(url)
        self._kinds: dict[html.HtmlElement, int] = {}
        self._loose: dict[html.HtmlElement, int] = {}
        self._numbers: dict[tuple[int, str], int] = {}

    @cached_property
    def links(self) -> list[_Link]:
        """The links of the body to other pages, in their order."""
        own_address = self.url.partition("#")[0]
        links = []
        for element in islice(self.root.iter("a"), MAX_LINKS):
            href = (element.get("href") or "").strip()
            if not href or href.startswith(("#", "javascript:", "mailto:", "tel:", "data:")):
                continue
            address = absolute(self.base, href)
            # Links to the page itself are anchors and sorting.
            if address and address.partition("#")[0] != own_address:
                links.append(_Link(element, address, line_of(element)))
        return links

    @cached_property
    def words(self) -> float:
        """Words of the page."""
        return sum((words_of(piece) for piece in _texts(self.root)), 0.0)

    @property
    def is_home(self) -> bool:
        """True for the first page of a site, which is no article but may begin with one."""
        return urlsplit(self.url).path in ("", "/", "/index.html")

    @cached_property
    def order(self) -> str:
        """The order of days and months in its dates."""
        return order_of_days(self.root)

    @cached_property
    def is_article(self) -> bool:
        """True for a page that says it is an article."""
        for meta in self.root.iter("meta"):
            name = meta.get("property") or meta.get("name") or ""
            if name == "article:published_time" or (name == "og:type" and meta.get("content") == "article"):
                return True
        return False

    def groups(self) -> Iterable[_Group]:
        """Yield groups of entries, each set of elements once."""
        by_kind: dict[int, list[_Link]] = defaultdict(list)
        for link in self.links:
            by_kind[self._kind(link.element)].append(link)
        groups = [*self._merged(by_kind), *by_kind.values()]
        groups = [group for group in groups if len({link.url for link in group}) >= 2]
        groups.sort(key=len, reverse=True)
        seen_keys: set[tuple[int, ...]] = set()
        for links in groups[:MAX_GROUPS]:
            elements = _entries_around(links)
            key = tuple(id(element) for element in elements)
            if len(elements) < 2 or key in seen_keys:
                continue
            seen_keys.add(key)
            pairs = list(with_neighbours(elements))
            group = _Group([node for node, _ in pairs], [beside for _, beside in pairs])
            reader = EntryReader(self.base, SourceRules(), self.order)
            read = [reader.read(node, beside) for node, beside in pairs[: LIMITS.entries]]
            group.entries = [entry for entry in read if entry is not None]
            yield group

    def _merged(self, by_kind: dict[int, list[_Link]]) -> list[list[_Link]]:
        """Return groups that differ in their classes only and stand mixed, as those of a list with a
        class for each category do.
        """
        by_tags: dict[int, list[tuple[int, _Link]]] = defaultdict(list)
        for kind, links in by_kind.items():
            for link in links:
                by_tags[self._loose[link.element]].append((kind, link))
        merged = []
        places = {id(link.element): place for place, link in enumerate(self.links)}
        for members in by_tags.values():
            kinds = {kind for kind, _ in members}
            if len(kinds) < 2:
                continue
            members.sort(key=lambda pair: places[id(pair[1].element)])
            changes = sum(a[0] != b[0] for a, b in pairwise(members))
            # Mixed and not one after the other: two lists below each other stay two.
            if changes >= len(kinds):
                merged.append([link for _, link in members])
        return merged

    def _kind(self, element: html.HtmlElement) -> int:
        """Return a number that is the same for elements below the same tags and classes."""
        kind = self._kinds.get(element)
        if kind is not None:
            return kind
        chain = [element]
        for node in element.iterancestors():
            if node in self._kinds:
                break
            chain.append(node)
        parent = chain[-1].getparent()
        strict = self._kinds[parent] if parent is not None else 0
        loose = self._loose[parent] if parent is not None else 0
        for node in reversed(chain):
            classes = ".".join(sorted(stable_classes(node)))
            strict = self._numbers.setdefault((strict, f"{node.tag}.{classes}"), len(self._numbers) + 1)
            loose = self._numbers.setdefault((loose, f"{node.tag}"), len(self._numbers) + 1)
            self._kinds[node], self._loose[node] = strict, loose
        return strict


def _entries_around(links: Sequence[_Link]) -> list[html.HtmlElement]:
    """Return the entry of each link: the element around it, as high as holds no other one of the group.

    Nine in ten links may climb so high; where two stand in one entry the first is its title.
    """
    urls_within: dict[html.HtmlElement, set[str]] = defaultdict(set)
    chains: list[list[html.HtmlElement]] = []
    for link in links:
        chain = [link.element, *link.element.iterancestors()]
        chains.append(chain)
        for element in chain:
            within = urls_within[element]
            if len(within) < 2:
                within.add(link.url)
    heights = sorted(
        next((height for height, node in enumerate(chain) if len(urls_within[node]) > 1), len(chain)) - 1
        for chain in chains
    )
    # One in ten may be odd: an advert, or an entry with two links.
    height = max(heights[len(heights) // 10], 0)
    elements = dict.fromkeys(chain[min(height, len(chain) - 1)] for chain in chains)
    if any(node.tag in ("body", "html") for node in elements):
        return []
    return list(elements)


def _score(group: _Group, page: _Page) -> float:
    """Return how much a group looks like a list of articles; below MIN_SCORE it is none."""
    entries = group.entries
    linked = [entry for entry in entries if entry.url]
    addresses = {entry.url for entry in linked}
    if len(addresses) < 2 or len(linked) < 0.7 * len(group.elements):
        return 0.0
    sample = linked[:_SAMPLE]
    titles = [entry.title for entry in sample]
    distinct = len({title.casefold() for title in titles}) / len(titles)
    length = median(words_of(title) for title in titles)
    dated = sum(entry.published is not None for entry in sample) / len(sample)
    elements = group.elements[:_SAMPLE]
    headed = sum(_is_headed(node) for node in elements) / len(elements)
    summed = sum(bool(entry.summary) for entry in sample) / len(sample)
    pictured = sum(bool(entry.image) for entry in sample) / len(sample)
    own_share = sum(_site(entry.url) == page.host for entry in sample) / len(sample)
    listing = sum(bool(_LISTING_ADDRESS.search(urlsplit(entry.url).path)) for entry in sample) / len(sample)
    score = min(length, 8.0) * 0.5 - 1.0
    score += 3.0 * dated + 1.5 * headed + 1.0 * summed + 0.5 * pictured
    score += 0.7 * log10(len(addresses))
    score -= 3.0 * (1.0 - distinct) + 3.0 * listing
    if dated < 0.5 and headed < 0.5:
        score -= 2.5 * (1.0 - own_share)
    score += _place(group.elements[0]) + _named(group)
    score -= 3.0 * _in_prose(group)
    if headed < 0.5:
        score -= (1.0 if page.is_home else 3.0) * _amid_text(group)
    if page.is_article:
        score -= 1.5
    if len(addresses) < 3 and dated < 1.0:
        score -= 1.0
    share = sum(words_of(entry.title) + words_of(entry.summary) for entry in entries) / max(page.words, 1)
    score += 2.0 * min(share, 0.5)
    return score


def _place(element: html.HtmlElement) -> float:
    """Return how much the place of an entry speaks for it: the names of the elements around."""
    score = 0.0
    for node in [element, *element.iterancestors()]:
        if node.tag in ("body", "html"):
            break
        names = f"{node.get('class', '')} {node.get('id', '')} {node.get('role', '')}"
        if node.tag in ("nav", "footer", "aside", "menu") or _ASIDE.search(names):
            score -= 3.0
        elif node.tag == "main" or _MAIN.search(names):
            score += 0.3
    return max(min(score, 0.6), -6.0)


def _named(group: _Group) -> float:
    """Return how much the names of entries themselves say that they are articles."""
    sample = group.elements[:_SAMPLE]
    count = sum(
        node.tag == "article"
        or "blogpost" in (node.get("itemtype") or "").casefold()
        or not _ENTRY_NAMES.isdisjoint((node.get("class") or "").casefold().split())
        for node in sample
    )
    return 1.5 * float(count) / len(sample)


def _amid_text(group: _Group) -> float:
    """Return how much of a text there is around a list, from 0 to 1: lists within an article are its own."""
    common = _common_ancestor(group.elements)
    own_words = sum(words_of(entry.title) + words_of(entry.summary) for entry in group.entries) + 1.0
    around = 0.0
    for _ in range(3):
        parent = common.getparent() if common is not None else None
        if parent is None or parent.tag in ("body", "html"):
            break
        common = parent
    if common is None:
        return 0.0
    inside = set(group.elements)
    for paragraph in islice(common.iter("p"), 300):
        words = words_of(line_of(paragraph))
        if words >= _SENTENCES and inside.isdisjoint([paragraph, *paragraph.iterancestors()]):
            around += words
    return min(around / (2.0 * own_words), 1.0)


def _in_prose(group: _Group) -> float:
    """Return the share of entries that are links within sentences."""
    sample = [node for node in group.elements[:_SAMPLE] if node.tag == "a"]
    count = 0
    for node in sample:
        parent = node.getparent()
        if parent is None or parent.tag not in ("p", "dd", "blockquote", "span", "em", "i", "b", "strong"):
            continue
        count += words_of(line_of(parent)) > 3 * words_of(line_of(node)) + 5
    return count / len(group.elements[:_SAMPLE])


def _is_headed(element: html.HtmlElement) -> bool:
    return (
        element.tag in HEADINGS
        or next(element.iter(*HEADINGS), None) is not None
        or any(True for _ in islice(element.iterancestors(*HEADINGS), 1))
    )


def _rules_of(group: _Group, page: _Page) -> tuple[SourceRules, list[ChosenEntry]]:
    """Return rules that choose the entries of a group, and the entries that they choose."""
    group_elements = set(group.elements)
    best: tuple[float, str] = (-1.0, "")
    steps: list[str] = []
    chain = [group.elements[0], *group.elements[0].iterancestors()]
    common = _common_ancestor(group.elements)
    for place, node in enumerate(chain):
        if node.tag == "html":
            break
        peers = (
            [_ancestor(element, place) for element in group.elements] if not _within(common, node) else [node]
        )
        steps.insert(0, _step(node, peers))
        selector = " > ".join(steps)
        try:
            chosen = set(cast("list[html.HtmlElement]", usable_selector(selector)(page.root)))
        except SelectorFault:
            break
        share = len(chosen & group_elements) / max(len(chosen | group_elements), 1)
        if share > best[0] + 0.001:
            best = (share, selector)
        if share == 1.0:
            break
    rules = SourceRules(entry=best[1])
    try:
        return rules, chosen_entries(page.root, page.url, rules)
    except ReadingError:
        return rules, []


def _within(common: html.HtmlElement | None, node: html.HtmlElement) -> bool:
    """Return whether an element is the common ancestor of the entries or above it."""
    return common is not None and (node is common or node in set(common.iterancestors()))


def _ancestor(element: html.HtmlElement, place: int) -> html.HtmlElement | None:
    """Return the ancestor of an element that is so many levels above it."""
    for _ in range(place):
        parent = element.getparent()
        if parent is None:
            return None
        element = parent
    return element


def _common_ancestor(elements: Sequence[html.HtmlElement]) -> html.HtmlElement | None:
    common: list[html.HtmlElement] = [elements[0], *elements[0].iterancestors()]
    for element in elements[1:]:
        above = {element, *element.iterancestors()}
        common = [node for node in common if node in above]
    return common[0] if common else None


def _step(node: html.HtmlElement, peers: Sequence[html.HtmlElement | None]) -> str:
    """Return a step of a selector that fits all of these elements: their tag, and the classes of all."""
    there = [peer for peer in peers if peer is not None]
    if any(peer.tag != node.tag for peer in there):
        return "*"
    classes = (
        set(stable_classes(node)).intersection(*(stable_classes(peer) for peer in there)) if there else set()
    )
    usable = sorted(name for name in classes if _USABLE_CLASS.fullmatch(name))[:3]
    names = "".join(f".{name}" for name in usable)
    identity = node.get("id") or ""
    if len(set(there)) == 1 and _USABLE_CLASS.fullmatch(identity) and not any(c.isdigit() for c in identity):
        return f"{node.tag}#{identity}"
    return f"{node.tag}{names}"


def _name_of(group: _Group) -> str:
    """Return the name of a list: the heading before it, "" without one."""
    common = _common_ancestor(group.elements)
    first = group.elements[0]
    place: html.HtmlElement | None = first
    while place is not None:
        for sibling in islice(place.itersiblings(preceding=True), 5):
            if isinstance(sibling.tag, str):
                heading = sibling if sibling.tag in HEADINGS else next(sibling.iter(*HEADINGS), None)
                if heading is not None and (text := line_of(heading)) and sibling not in group.elements:
                    return text[:80]
        if place is common:
            break
        place = place.getparent()
    return ""


def stable_classes(element: html.HtmlElement) -> list[str]:
    """Return the classes of an element without those that differ from entry to entry."""
    return [name for name in (element.get("class") or "").split()[:12] if not _VARYING.search(name)]


def words_of(text: str) -> float:
    """Return the number of words in a text; two signs of Chinese, Japanese, Korean or Thai are one."""
    signs = len(_CJK.findall(text))
    return len(_WORD.findall(_CJK.sub(" ", text))) + signs / 2


def _texts(root: html.HtmlElement) -> Iterable[str]:
    for element in root.iter(etree.Element):
        if element.tag not in UNREAD and element.text:
            yield element.text
        if element.tail:
            yield element.tail


def _site(url: str) -> str:
    """Return the last two labels of an address' host, the whole of a numeric one."""
    host = urlsplit(url).hostname or ""
    return host if host.replace(".", "").isdigit() else ".".join(host.split(".")[-2:])
